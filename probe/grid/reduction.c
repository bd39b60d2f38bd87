/* SPDX-License-Identifier: BSD-3-Clause */
#include "grid/reduction.h"

int iso_reduction_begin(MPI_Comm comm, const iso_grid_t *grid,
                        const void *buffer, int count, MPI_Datatype type,
                        MPI_Op operation, bool many,
                        const iso_arrangement_t **arrangement)
{
    int commutes = 0;
    long long bytes = iso_blocks_of(buffer, count, type).bytes;
    *arrangement = NULL;
    if (operation == MPI_OP_NULL ||
        PMPI_Op_commutative(operation, &commutes) != MPI_SUCCESS) {
        return MPI_SUCCESS;
    }
    int error = iso_phases_begin(comm, grid, bytes, many, arrangement);
    if (*arrangement != NULL && !commutes && !(*arrangement)->in_rank_order) {
        *arrangement = NULL;
    }
    return error;
}
