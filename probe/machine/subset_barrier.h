/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file subset_barrier.h
 * Barrier over a subset of ranks.
 */
#pragma once

#include <mpi.h>

/**
 * Return when all have called it.
 *
 * The dissemination barrier (D. Hensgen, R. Finkel, U. Manber, Two Algorithms
 * for Barrier Synchronization, 1988), of plain messages: some libraries' own
 * barriers spin without end where ranks share processors.
 *
 * @param ranks  the subset, the same list on all of them; NULL: 0, 1, ...
 * @param count  how many
 * @param place  of the calling rank in that list
 */
void iso_subset_barrier(MPI_Comm comm, const int *ranks, int count, int place);
