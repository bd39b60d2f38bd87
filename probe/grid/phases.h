/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file phases.h
 * Common parts of the operations: whether two phases apply, and error
 * handling.
 *
 * After an error a rank still executes the next phase, in which others may
 * wait for it; the first error is returned.
 */
#pragma once

#include "grid/arrangement.h"

/** My rank, or -1 where the library must handle the call: no communicator, or
 * an inter-communicator. */
int iso_phases_rank(MPI_Comm comm);

/** Whether @a root is a rank. */
bool iso_phases_root(MPI_Comm comm, int root);

/**
 * Find the arrangement for an operation.
 *
 * @param bytes        of a block, the same at all ranks. 0 is left to the
 *                     library, and -1, which says that an argument is wrong
 * @param many         an MPI call takes several blocks, so that their number
 *                     of bytes must not exceed an int
 * @param arrangement  set to NULL if the library is to do it
 * @return an MPI error code, of which the error handler of @a comm knows
 */
int iso_phases_begin(MPI_Comm comm, const iso_grid_t *grid, long long bytes,
                     bool many, const iso_arrangement_t **arrangement);

/** Call the error handler of @a comm on an error, and return it. */
int iso_phases_end(MPI_Comm comm, int error);

/** The first of two errors. */
static inline int iso_phases_first(int error, int next)
{
    return error != MPI_SUCCESS ? error : next;
}
