/* SPDX-License-Identifier: BSD-3-Clause */
#include "grid/blocks.h"
#include "grid/collectives.h"
#include "grid/phases.h"

int iso_grid_bcast(void *buffer, int count, MPI_Datatype type, int root,
                   MPI_Comm comm, const iso_grid_t *grid)
{
    const iso_arrangement_t *a = NULL;
    iso_blocks_t block = iso_blocks_of(buffer, count, type);
    if (iso_phases_rank(comm) >= 0 && iso_phases_root(comm, root)) {
        int error = iso_phases_begin(comm, grid, block.bytes, false, &a);
        if (error != MPI_SUCCESS) {
            return error;
        }
    }
    if (a == NULL) {
        return PMPI_Bcast(buffer, count, type, root, comm);
    }
    int column = a->column_of[root], row = a->row_of[a->rank];
    int leader = iso_arrangement_place(a, row, column);
    int error = MPI_SUCCESS;
    if (a->column_of[a->rank] == leader) {
        error = PMPI_Bcast(buffer, count, type, a->row_of[root],
                           a->columns[column]);
    }
    error = iso_phases_first(error,
                             PMPI_Bcast(buffer, count, type, leader, a->row));
    return iso_phases_end(comm, error);
}
