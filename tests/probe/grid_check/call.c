/* SPDX-License-Identifier: BSD-3-Clause */
#include "call.h"

#include "grid/collectives.h"

const char *const operation_names[OPERATIONS] = {
    "bcast",     "gather",    "scatter",  "reduce",
    "allreduce", "allgather", "alltoall", "reduce_scatter_block",
};

static int call_library(operation_t operation, const arguments_t *a)
{
    switch (operation) {
    case BCAST:
        return MPI_Bcast(a->receive, a->receive_count, a->receive_type, a->root,
                         a->comm);
    case GATHER:
        return MPI_Gather(a->send, a->send_count, a->send_type, a->receive,
                          a->receive_count, a->receive_type, a->root, a->comm);
    case SCATTER:
        return MPI_Scatter(a->send, a->send_count, a->send_type, a->receive,
                           a->receive_count, a->receive_type, a->root, a->comm);
    case REDUCE:
        return MPI_Reduce(a->send, a->receive, a->receive_count,
                          a->receive_type, a->op, a->root, a->comm);
    case ALLREDUCE:
        return MPI_Allreduce(a->send, a->receive, a->receive_count,
                             a->receive_type, a->op, a->comm);
    case ALLGATHER:
        return MPI_Allgather(a->send, a->send_count, a->send_type, a->receive,
                             a->receive_count, a->receive_type, a->comm);
    case ALLTOALL:
        return MPI_Alltoall(a->send, a->send_count, a->send_type, a->receive,
                            a->receive_count, a->receive_type, a->comm);
    default:
        return MPI_Reduce_scatter_block(a->send, a->receive, a->receive_count,
                                        a->receive_type, a->op, a->comm);
    }
}

int call(operation_t operation, const arguments_t *a, const iso_grid_t *grid)
{
    if (grid == NULL) {
        return call_library(operation, a);
    }
    switch (operation) {
    case BCAST:
        return iso_grid_bcast(a->receive, a->receive_count, a->receive_type,
                              a->root, a->comm, grid);
    case GATHER:
        return iso_grid_gather(a->send, a->send_count, a->send_type, a->receive,
                               a->receive_count, a->receive_type, a->root,
                               a->comm, grid);
    case SCATTER:
        return iso_grid_scatter(a->send, a->send_count, a->send_type,
                                a->receive, a->receive_count, a->receive_type,
                                a->root, a->comm, grid);
    case REDUCE:
        return iso_grid_reduce(a->send, a->receive, a->receive_count,
                               a->receive_type, a->op, a->root, a->comm, grid);
    case ALLREDUCE:
        return iso_grid_allreduce(a->send, a->receive, a->receive_count,
                                  a->receive_type, a->op, a->comm, grid);
    case ALLGATHER:
        return iso_grid_allgather(a->send, a->send_count, a->send_type,
                                  a->receive, a->receive_count, a->receive_type,
                                  a->comm, grid);
    case ALLTOALL:
        return iso_grid_alltoall(a->send, a->send_count, a->send_type,
                                 a->receive, a->receive_count, a->receive_type,
                                 a->comm, grid);
    default:
        return iso_grid_reduce_scatter_block(a->send, a->receive,
                                             a->receive_count, a->receive_type,
                                             a->op, a->comm, grid);
    }
}
