/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file calls.c
 * The calls of C programs that are taken over. Fortran programs on MPICH come
 * here, too: its Fortran library calls these names.
 */
#include "grid/collectives.h"
#include "interposer/tuning.h"
#include "loaded/takes_over.h"

ISO_TAKES_OVER int MPI_Init(int *argc, char ***argv)
{
    int code = PMPI_Init(argc, argv);
    if (code == MPI_SUCCESS) {
        iso_tuning_begin();
    }
    return code;
}

ISO_TAKES_OVER int MPI_Init_thread(int *argc, char ***argv, int required,
                                   int *provided)
{
    int code = PMPI_Init_thread(argc, argv, required, provided);
    if (code == MPI_SUCCESS) {
        iso_tuning_begin();
    }
    return code;
}

ISO_TAKES_OVER int MPI_Finalize(void)
{
    iso_tuning_end();
    return PMPI_Finalize();
}

ISO_TAKES_OVER int MPI_Bcast(void *buffer, int count, MPI_Datatype type,
                             int root, MPI_Comm comm)
{
    const iso_grid_t *grid = iso_tuning_choice(ISO_BCAST, count, type, comm);
    return grid ? iso_grid_bcast(buffer, count, type, root, comm, grid)
                : PMPI_Bcast(buffer, count, type, root, comm);
}

ISO_TAKES_OVER int MPI_Gather(const void *send, int send_count,
                              MPI_Datatype send_type, void *receive,
                              int receive_count, MPI_Datatype receive_type,
                              int root, MPI_Comm comm)
{
    const iso_grid_t *grid =
        iso_tuning_rooted(ISO_GATHER, receive_count, receive_type, send_count,
                          send_type, root, comm);
    return grid ? iso_grid_gather(send, send_count, send_type, receive,
                                  receive_count, receive_type, root, comm, grid)
                : PMPI_Gather(send, send_count, send_type, receive,
                              receive_count, receive_type, root, comm);
}

ISO_TAKES_OVER int MPI_Scatter(const void *send, int send_count,
                               MPI_Datatype send_type, void *receive,
                               int receive_count, MPI_Datatype receive_type,
                               int root, MPI_Comm comm)
{
    const iso_grid_t *grid =
        iso_tuning_rooted(ISO_SCATTER, send_count, send_type, receive_count,
                          receive_type, root, comm);
    return grid
               ? iso_grid_scatter(send, send_count, send_type, receive,
                                  receive_count, receive_type, root, comm, grid)
               : PMPI_Scatter(send, send_count, send_type, receive,
                              receive_count, receive_type, root, comm);
}

ISO_TAKES_OVER int MPI_Reduce(const void *send, void *receive, int count,
                              MPI_Datatype type, MPI_Op operation, int root,
                              MPI_Comm comm)
{
    const iso_grid_t *grid = iso_tuning_choice(ISO_REDUCE, count, type, comm);
    return grid
               ? iso_grid_reduce(send, receive, count, type, operation, root,
                                 comm, grid)
               : PMPI_Reduce(send, receive, count, type, operation, root, comm);
}

ISO_TAKES_OVER int MPI_Allreduce(const void *send, void *receive, int count,
                                 MPI_Datatype type, MPI_Op operation,
                                 MPI_Comm comm)
{
    const iso_grid_t *grid =
        iso_tuning_choice(ISO_ALLREDUCE, count, type, comm);
    return grid ? iso_grid_allreduce(send, receive, count, type, operation,
                                     comm, grid)
                : PMPI_Allreduce(send, receive, count, type, operation, comm);
}

ISO_TAKES_OVER int MPI_Allgather(const void *send, int send_count,
                                 MPI_Datatype send_type, void *receive,
                                 int receive_count, MPI_Datatype receive_type,
                                 MPI_Comm comm)
{
    const iso_grid_t *grid =
        iso_tuning_choice(ISO_ALLGATHER, receive_count, receive_type, comm);
    return grid ? iso_grid_allgather(send, send_count, send_type, receive,
                                     receive_count, receive_type, comm, grid)
                : PMPI_Allgather(send, send_count, send_type, receive,
                                 receive_count, receive_type, comm);
}

ISO_TAKES_OVER int MPI_Alltoall(const void *send, int send_count,
                                MPI_Datatype send_type, void *receive,
                                int receive_count, MPI_Datatype receive_type,
                                MPI_Comm comm)
{
    const iso_grid_t *grid =
        iso_tuning_choice(ISO_ALLTOALL, receive_count, receive_type, comm);
    return grid ? iso_grid_alltoall(send, send_count, send_type, receive,
                                    receive_count, receive_type, comm, grid)
                : PMPI_Alltoall(send, send_count, send_type, receive,
                                receive_count, receive_type, comm);
}

ISO_TAKES_OVER int MPI_Reduce_scatter_block(const void *send, void *receive,
                                            int count, MPI_Datatype type,
                                            MPI_Op operation, MPI_Comm comm)
{
    const iso_grid_t *grid =
        iso_tuning_choice(ISO_REDUCE_SCATTER_BLOCK, count, type, comm);
    return grid ? iso_grid_reduce_scatter_block(send, receive, count, type,
                                                operation, comm, grid)
                : PMPI_Reduce_scatter_block(send, receive, count, type,
                                            operation, comm);
}
