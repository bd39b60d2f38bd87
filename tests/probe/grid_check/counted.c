/* SPDX-License-Identifier: BSD-3-Clause */
#include "counted.h"

#include <mpi.h>
#include <stdlib.h>

atomic_int counted_alive, counted_made;
const int *counted_nodes;
bool counted_no_memory;

/* Declared in mpi.h and stdlib.h, where they are renamed. */

int counted_split(MPI_Comm comm, int color, int key, MPI_Comm *made)
{
    int error = MPI_Comm_split(comm, color, key, made);
    if (error == MPI_SUCCESS && *made != MPI_COMM_NULL) {
        counted_alive++;
        counted_made++;
    }
    return error;
}

int counted_split_type(MPI_Comm comm, int type, int key, MPI_Info info,
                       MPI_Comm *made)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    if (counted_nodes != NULL) {
        return counted_split(comm, counted_nodes[rank], key, made);
    }
    counted_alive++;
    return MPI_Comm_split_type(comm, type, key, info, made);
}

int counted_free(MPI_Comm *comm)
{
    counted_alive--;
    return MPI_Comm_free(comm);
}

void *counted_malloc(size_t size)
{
    return counted_no_memory ? NULL : realloc(NULL, size);
}
