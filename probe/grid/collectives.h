/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file collectives.h
 * Collective operations as two operations of the library, on the rows and on
 * the columns of a grid (Kühnemann, Rauber, Rünger, "Performance Modeling of
 * Two-phase Realizations of Communication Operations", section 2).
 *
 * LG are the groups across rows, with one member in each row ("leader group":
 * the members of one of them act as leaders of their rows), CG the rows, which
 * work concurrently. With p1 rows of p2 ranks and a block of b bytes:
 *
 *     operation             first phase               second phase
 *     bcast                 LG  bcast      b          CG  bcast      b
 *     scatter               LG  scatter    p2*b       CG  scatter    b
 *     gather                CG  gather     b          LG  gather     p2*b
 *     reduce                CG  reduce     b          LG  reduce     b
 *     allreduce             CG  allreduce  b          LG  allreduce  b
 *     allgather             CG  allgather  b          LG  allgather  p2*b
 *     alltoall              CG  alltoall   p1*b       LG  alltoall   p2*b
 *     reduce_scatter_block  CG  red.sc.b.  p1*b       LG  red.sc.b.  b
 *
 * Operations with a root have one LG, the column of the root; of the others
 * all p2 columns work at the same time.
 *
 * Where rows have different lengths, whole rows move by the operation with a
 * "v" (gatherv, scatterv, allgatherv, alltoallv, reduce_scatter), and the last
 * rank of a short row takes part in the columns that its row does not have.
 *
 * The arguments and the result are those of the MPI operation: any root, any
 * datatype, sender's and receiver's different ones if they match,
 * MPI_IN_PLACE, operations that do not commute in the order of ranks.
 * Floating-point sums are added in a different order than the library's.
 *
 * Errors go to the error handler of @a comm, once, and are returned;
 * MPI_ERR_ARG if the grid does not fit the communicator. Wrong arguments are
 * passed to the library's own operation, which reports them.
 *
 * Passed to the library, by all ranks:
 *   - one row or one column; an inter-communicator; blocks of no bytes;
 *   - an operation that does not commute, where the rows are not consecutive
 *     ranks; in reduce_scatter_block also where its elements end in a gap, with
 *     which MPICH fails on groups whose size is a power of two;
 *   - of gather, scatter, allgather, alltoall and reduce_scatter_block: more
 *     than INT_MAX bytes in what one call moves between two groups, which is
 *     max(p1, p2) blocks, or where rows differ the whole buffer;
 *   - a grid for which the library has no communicators left.
 *
 * Memory: bcast needs none, reduce one block at the leaders of rows, allreduce
 * one at substitutes; gather and scatter one row at the leaders; allgather
 * none, alltoall two buffers and reduce_scatter_block one (and a block) of the
 * operation's size. Where the caller's buffer is not dense (a predefined
 * datatype without gaps) or rows are not consecutive ranks, the side that has
 * all blocks packs them into one more buffer. Buffers must be in memory that
 * the processor can read.
 *
 * Any thread level: two threads may work on different communicators, as MPI
 * has it. All library calls are PMPI_ calls; the same sources compile into a
 * shared library (they need MPI 3.0, base/sizes.h and POSIX threads).
 */
#pragma once

#include "grid/shape.h"

#include <mpi.h>

/** Parameters of operations that move blocks, and of those that combine them,
 *  with counts of the type COUNT. */
#define ISO_BLOCKS(COUNT)                                                      \
    const void *send, COUNT send_count, MPI_Datatype send_type, void *receive, \
        COUNT receive_count, MPI_Datatype receive_type
#define ISO_REDUCTION(COUNT)                                                   \
    const void *send, void *receive, COUNT count, MPI_Datatype type,           \
        MPI_Op operation

int iso_grid_bcast(void *buffer, int count, MPI_Datatype type, int root,
                   MPI_Comm comm, const iso_grid_t *grid);
int iso_grid_gather(ISO_BLOCKS(int), int root, MPI_Comm comm,
                    const iso_grid_t *grid);
int iso_grid_scatter(ISO_BLOCKS(int), int root, MPI_Comm comm,
                     const iso_grid_t *grid);
int iso_grid_reduce(ISO_REDUCTION(int), int root, MPI_Comm comm,
                    const iso_grid_t *grid);
int iso_grid_allreduce(ISO_REDUCTION(int), MPI_Comm comm,
                       const iso_grid_t *grid);
int iso_grid_allgather(ISO_BLOCKS(int), MPI_Comm comm, const iso_grid_t *grid);
int iso_grid_alltoall(ISO_BLOCKS(int), MPI_Comm comm, const iso_grid_t *grid);
int iso_grid_reduce_scatter_block(ISO_REDUCTION(int), MPI_Comm comm,
                                  const iso_grid_t *grid);

/** One of the two phases of an operation: the same of the library. */
typedef struct {
    bool rows;         /**< CG: all rows; else LG: columns */
    bool times_rows;   /**< its block is p1 blocks of the operation */
    bool times_length; /**< its block is p2 blocks of the operation */
} iso_grid_phase_t;

/** What an operation consists of. */
typedef struct {
    const char *name; /**< as in --op; NULL ends the table */
    bool rooted;      /**< LG is the column of the root alone */
    iso_grid_phase_t phases[2];
} iso_grid_operation_t;

/** Find an operation by the first @a length characters of @a name, or NULL. */
const iso_grid_operation_t *iso_grid_operation_find(const char *name);
