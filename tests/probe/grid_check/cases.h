/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file cases.h
 * Random cases: operation, grid, root, number of elements, datatypes, in place
 * or not, on random ranks in a random order; the library's own against two
 * phases.
 */
#ifndef GRID_CHECK_CASES_H
#define GRID_CHECK_CASES_H

#include <stdint.h>

/** Run cases @a first to @a first + @a count - 1 and print how many there were
 *  of each operation, how many of all were done in two phases, and at how many
 *  ranks they differed. Collective over MPI_COMM_WORLD.
 *  @return how often they differed at some rank */
int cases_run(uint64_t seed, int first, int count);

#endif
