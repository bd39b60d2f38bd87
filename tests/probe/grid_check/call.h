/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file call.h
 * One call of an operation, of the library or on a grid.
 */
#ifndef GRID_CHECK_CALL_H
#define GRID_CHECK_CALL_H

#include "grid/shape.h"

#include <mpi.h>

typedef enum operation {
    BCAST,
    GATHER,
    SCATTER,
    REDUCE,
    ALLREDUCE,
    ALLGATHER,
    ALLTOALL,
    REDUCE_SCATTER_BLOCK,
    OPERATIONS
} operation_t;

extern const char *const operation_names[OPERATIONS];

/** Arguments; of the operations that reduce and of bcast those of receive. */
typedef struct arguments {
    const void *send;
    int send_count;
    MPI_Datatype send_type;
    void *receive;
    int receive_count;
    MPI_Datatype receive_type;
    MPI_Op op;
    int root;
    MPI_Comm comm;
} arguments_t;

/** Call it; @a grid NULL: the library's own. */
int call(operation_t operation, const arguments_t *arguments,
         const iso_grid_t *grid);

#endif
