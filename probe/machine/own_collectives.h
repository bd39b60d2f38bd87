/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file own_collectives.h
 * Collective operations implemented with point-to-point messages.
 *
 * The probe uses these for its own data, never the library's collective
 * operations: those are measured and may be wrong. Rank 0 is the root.
 */
#pragma once

#include <mpi.h>

/** Give the values of rank 0 to all, along a binomial tree. */
void iso_plain_bcast(MPI_Comm comm, void *values, int count, MPI_Datatype type);

/** Collect @a bytes bytes of each rank at rank 0, in the order of ranks. */
void iso_plain_gather(MPI_Comm comm, const void *mine, int bytes, void *all);

/** The same at every rank. @a all has at most INT_MAX bytes. */
void iso_plain_allgather(MPI_Comm comm, const void *mine, int bytes, void *all);

/** Combine the values of all ranks at rank 0, in place; elsewhere they are
 *  lost. @param operation  predefined */
void iso_plain_reduce(MPI_Comm comm, void *values, int count, MPI_Datatype type,
                      MPI_Op operation);

/** The same at every rank. */
void iso_plain_allreduce(MPI_Comm comm, void *values, int count,
                         MPI_Datatype type, MPI_Op operation);

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
