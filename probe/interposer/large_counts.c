/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file large_counts.c
 * The calls of MPI 4 with counts that are MPI_Count. Those that an int holds,
 * as all of a block below 2 GiB, are the other calls. mpi4py makes no others.
 *
 * A count that MPI does not look at may be anything, and decides nothing here.
 */
#include <mpi.h>

#if MPI_VERSION >= 4

#include "loaded/takes_over.h"

#include <limits.h>
#include <stdbool.h>

static bool fits(MPI_Count count)
{
    return count >= 0 && count <= INT_MAX;
}

/** Set the count to 0 that does not count at this rank, of the one for the
 *  block at the root and the one for the block elsewhere. */
static void forget(MPI_Count *at_root, MPI_Count *elsewhere, bool in_place,
                   int root, MPI_Comm comm)
{
    int rank = 0, inter = 0;
    if (fits(*at_root) && fits(*elsewhere)) {
        return;
    }
    PMPI_Comm_test_inter(comm, &inter);
    PMPI_Comm_rank(comm, &rank);
    if (!inter && rank != root) {
        *at_root = 0;
    } else if (!inter && in_place) {
        *elsewhere = 0;
    }
}

ISO_TAKES_OVER int MPI_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype type,
                               int root, MPI_Comm comm)
{
    return fits(count) ? MPI_Bcast(buffer, (int)count, type, root, comm)
                       : PMPI_Bcast_c(buffer, count, type, root, comm);
}

ISO_TAKES_OVER int MPI_Gather_c(const void *send, MPI_Count send_count,
                                MPI_Datatype send_type, void *receive,
                                MPI_Count receive_count,
                                MPI_Datatype receive_type, int root,
                                MPI_Comm comm)
{
    forget(&receive_count, &send_count, send == MPI_IN_PLACE, root, comm);
    return fits(send_count) && fits(receive_count)
               ? MPI_Gather(send, (int)send_count, send_type, receive,
                            (int)receive_count, receive_type, root, comm)
               : PMPI_Gather_c(send, send_count, send_type, receive,
                               receive_count, receive_type, root, comm);
}

ISO_TAKES_OVER int MPI_Scatter_c(const void *send, MPI_Count send_count,
                                 MPI_Datatype send_type, void *receive,
                                 MPI_Count receive_count,
                                 MPI_Datatype receive_type, int root,
                                 MPI_Comm comm)
{
    forget(&send_count, &receive_count, receive == MPI_IN_PLACE, root, comm);
    return fits(send_count) && fits(receive_count)
               ? MPI_Scatter(send, (int)send_count, send_type, receive,
                             (int)receive_count, receive_type, root, comm)
               : PMPI_Scatter_c(send, send_count, send_type, receive,
                                receive_count, receive_type, root, comm);
}

ISO_TAKES_OVER int MPI_Reduce_c(const void *send, void *receive,
                                MPI_Count count, MPI_Datatype type,
                                MPI_Op operation, int root, MPI_Comm comm)
{
    return fits(count) ? MPI_Reduce(send, receive, (int)count, type, operation,
                                    root, comm)
                       : PMPI_Reduce_c(send, receive, count, type, operation,
                                       root, comm);
}

ISO_TAKES_OVER int MPI_Allreduce_c(const void *send, void *receive,
                                   MPI_Count count, MPI_Datatype type,
                                   MPI_Op operation, MPI_Comm comm)
{
    return fits(count)
               ? MPI_Allreduce(send, receive, (int)count, type, operation, comm)
               : PMPI_Allreduce_c(send, receive, count, type, operation, comm);
}

ISO_TAKES_OVER int MPI_Allgather_c(const void *send, MPI_Count send_count,
                                   MPI_Datatype send_type, void *receive,
                                   MPI_Count receive_count,
                                   MPI_Datatype receive_type, MPI_Comm comm)
{
    send_count = send == MPI_IN_PLACE ? 0 : send_count;
    return fits(send_count) && fits(receive_count)
               ? MPI_Allgather(send, (int)send_count, send_type, receive,
                               (int)receive_count, receive_type, comm)
               : PMPI_Allgather_c(send, send_count, send_type, receive,
                                  receive_count, receive_type, comm);
}

ISO_TAKES_OVER int MPI_Alltoall_c(const void *send, MPI_Count send_count,
                                  MPI_Datatype send_type, void *receive,
                                  MPI_Count receive_count,
                                  MPI_Datatype receive_type, MPI_Comm comm)
{
    send_count = send == MPI_IN_PLACE ? 0 : send_count;
    return fits(send_count) && fits(receive_count)
               ? MPI_Alltoall(send, (int)send_count, send_type, receive,
                              (int)receive_count, receive_type, comm)
               : PMPI_Alltoall_c(send, send_count, send_type, receive,
                                 receive_count, receive_type, comm);
}

ISO_TAKES_OVER int MPI_Reduce_scatter_block_c(const void *send, void *receive,
                                              MPI_Count count,
                                              MPI_Datatype type,
                                              MPI_Op operation, MPI_Comm comm)
{
    return fits(count) ? MPI_Reduce_scatter_block(send, receive, (int)count,
                                                  type, operation, comm)
                       : PMPI_Reduce_scatter_block_c(send, receive, count, type,
                                                     operation, comm);
}

#endif
