/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file counted.h
 * What stands between the grid collectives and MPI in this program, which is
 * compiled with -DPMPI_Comm_split=counted_split and the like: communicators
 * are counted, ranks can be put on nodes at will, and memory can be short.
 */
#ifndef GRID_CHECK_COUNTED_H
#define GRID_CHECK_COUNTED_H

#include <stdatomic.h>
#include <stdbool.h>

/** Group communicators that were made and not yet freed. */
extern atomic_int counted_alive;

/** Made in all. */
extern atomic_int counted_made;

/** Node of each rank of the communicator that is split next by nodes; NULL:
 *  where they are. */
extern const int *counted_nodes;

/** Whether malloc fails. */
extern bool counted_no_memory;

#endif
