/* SPDX-License-Identifier: BSD-3-Clause */
#include "grid/phases.h"

#include <limits.h>

int iso_phases_rank(MPI_Comm comm)
{
    int between = 0, rank = -1;
    if (comm == MPI_COMM_NULL ||
        PMPI_Comm_test_inter(comm, &between) != MPI_SUCCESS || between ||
        PMPI_Comm_rank(comm, &rank) != MPI_SUCCESS) {
        return -1;
    }
    return rank;
}

bool iso_phases_root(MPI_Comm comm, int root)
{
    int size = 0;
    return PMPI_Comm_size(comm, &size) == MPI_SUCCESS && root >= 0 &&
           root < size;
}

int iso_phases_begin(MPI_Comm comm, const iso_grid_t *grid, long long bytes,
                     bool many, const iso_arrangement_t **arrangement)
{
    const iso_arrangement_t *a = NULL;
    *arrangement = NULL;
    if (bytes <= 0) {
        return MPI_SUCCESS;
    }
    int error = iso_arrangement_of(comm, grid, &a);
    if (error == MPI_SUCCESS && a->complete &&
        (!many || bytes <= INT_MAX / a->most_blocks)) {
        *arrangement = a;
    }
    return iso_phases_end(comm, error);
}

int iso_phases_end(MPI_Comm comm, int error)
{
    if (error != MPI_SUCCESS) {
        PMPI_Comm_call_errhandler(comm, error);
    }
    return error;
}
