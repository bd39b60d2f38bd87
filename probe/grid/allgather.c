/* SPDX-License-Identifier: BSD-3-Clause */
#include "grid/collectives.h"
#include "grid/phases.h"
#include "grid/rows.h"

#include <stdlib.h>

/** Gather the blocks of all ranks, packed and row by row, of which each rank
 *  has filled in its own. */
static int both_phases(const iso_arrangement_t *a, char *all, int bytes)
{
    char *mine = iso_rows_mine(a, all, bytes);
    int error = PMPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, mine, bytes, MPI_BYTE,
                               a->row);
    if (a->even) {
        return iso_phases_first(
            error,
            PMPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, all, a->longest * bytes,
                           MPI_BYTE, a->columns[a->column_of[a->rank]]));
    }
    int *counts = iso_rows_counts(a, bytes);
    if (counts == NULL) {
        return MPI_ERR_NO_MEM;
    }
    int end = iso_arrangement_columns_end(a);
    for (int c = a->column_of[a->rank]; c < end; c++) {
        error = iso_phases_first(
            error, PMPI_Allgatherv(MPI_IN_PLACE, 0, MPI_BYTE, all, counts,
                                   counts + a->rows, MPI_BYTE, a->columns[c]));
    }
    free(counts);
    return error;
}

/** Both phases, in the caller's buffer if it is in the order of the rows. */
static int allgather(const iso_arrangement_t *a, const iso_blocks_t *own,
                     int own_block, const iso_blocks_t *all)
{
    char *rows = iso_rows_alloc(a, all);
    size_t bytes = all->bytes;
    if (rows == NULL) {
        return MPI_ERR_NO_MEM;
    }
    int error = MPI_SUCCESS;
    if (rows != all->buffer || own != all) {
        char *mine = iso_rows_mine(a, rows, bytes) +
                     (size_t)a->column_of[a->rank] * bytes;
        error = iso_blocks_pack(own, own_block, mine, a->row);
    }
    error = iso_phases_first(error, both_phases(a, rows, (int)bytes));
    error = iso_phases_first(error, iso_rows_unpack(a, all, rows));
    iso_rows_free(all, rows);
    return error;
}

int iso_grid_allgather(ISO_BLOCKS(int), MPI_Comm comm, const iso_grid_t *grid)
{
    const iso_arrangement_t *a = NULL;
    int rank = iso_phases_rank(comm);
    bool in_place = send == MPI_IN_PLACE;
    iso_blocks_t all = iso_blocks_of(receive, receive_count, receive_type);
    iso_blocks_t own = all;
    if (!in_place) {
        own = iso_blocks_of(send, send_count, send_type);
    }
    if (rank >= 0 && receive != MPI_IN_PLACE && own.bytes == all.bytes) {
        int error = iso_phases_begin(comm, grid, all.bytes, true, &a);
        if (error != MPI_SUCCESS) {
            return error;
        }
    }
    if (a == NULL) {
        return PMPI_Allgather(send, send_count, send_type, receive,
                              receive_count, receive_type, comm);
    }
    int error =
        in_place ? allgather(a, &all, rank, &all) : allgather(a, &own, 0, &all);
    return iso_phases_end(comm, error);
}
