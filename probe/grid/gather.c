/* SPDX-License-Identifier: BSD-3-Clause */
#include "grid/blocks.h"
#include "grid/collectives.h"
#include "grid/phases.h"
#include "grid/rooted.h"
#include "grid/rows.h"

#include <stdlib.h>

/** At a rank that is not the leader of its row. */
static int give(const iso_arrangement_t *a, const iso_blocks_t *own, int leader)
{
    int bytes = (int)own->bytes, error = MPI_SUCCESS;
    char *packed = own->dense ? own->buffer : malloc((size_t)bytes);
    if (packed == NULL) {
        return MPI_ERR_NO_MEM;
    }
    if (!own->dense) {
        error = iso_blocks_pack(own, 0, packed, a->row);
    }
    error = iso_phases_first(error, PMPI_Gather(packed, bytes, MPI_BYTE, NULL,
                                                0, MPI_BYTE, leader, a->row));
    if (!own->dense) {
        free(packed);
    }
    return error;
}

/** Gather the row at its leader, who has filled in its own block. */
static int gather_row(const iso_arrangement_t *a, char *row, int bytes)
{
    return PMPI_Gather(MPI_IN_PLACE, 0, MPI_BYTE, row, bytes, MPI_BYTE,
                       a->column_of[a->rank], a->row);
}

/**
 * Gather the rows in the column of the root.
 * @param rows  what a leader has; at the root the blocks of all rows, with its
 *              own row filled in
 */
static int gather_column(const iso_arrangement_t *a, char *rows, int bytes,
                         int root)
{
    MPI_Comm column = a->columns[a->column_of[root]];
    int at = a->row_of[root], mine = a->lengths[a->row_of[a->rank]] * bytes;
    if (a->even) {
        return a->rank == root ? PMPI_Gather(MPI_IN_PLACE, 0, MPI_BYTE, rows,
                                             mine, MPI_BYTE, at, column)
                               : PMPI_Gather(rows, mine, MPI_BYTE, NULL, 0,
                                             MPI_BYTE, at, column);
    }
    if (a->rank != root) {
        return PMPI_Gatherv(rows, mine, MPI_BYTE, NULL, NULL, NULL, MPI_BYTE,
                            at, column);
    }
    int *counts = iso_rows_counts(a, bytes);
    if (counts == NULL) {
        return MPI_ERR_NO_MEM;
    }
    int error = PMPI_Gatherv(MPI_IN_PLACE, 0, MPI_BYTE, rows, counts,
                             counts + a->rows, MPI_BYTE, at, column);
    free(counts);
    return error;
}

/** At the leader of a row that is not the root's. */
static int lead(const iso_arrangement_t *a, const iso_blocks_t *own, int root)
{
    int bytes = (int)own->bytes;
    size_t length = (size_t)a->lengths[a->row_of[a->rank]];
    char *row = malloc(length * (size_t)bytes);
    if (row == NULL) {
        return MPI_ERR_NO_MEM;
    }
    char *mine = row + (size_t)a->column_of[a->rank] * (size_t)bytes;
    int error = iso_blocks_pack(own, 0, mine, a->row);
    error = iso_phases_first(error, gather_row(a, row, bytes));
    error = iso_phases_first(error, gather_column(a, row, bytes, root));
    free(row);
    return error;
}

/** At the root: in the caller's buffer if it is in the order of the rows. */
static int collect(const iso_arrangement_t *a, const iso_blocks_t *own,
                   int own_block, const iso_blocks_t *all)
{
    size_t bytes = (size_t)all->bytes;
    char *rows = iso_rows_alloc(a, all);
    if (rows == NULL) {
        return MPI_ERR_NO_MEM;
    }
    int error = MPI_SUCCESS;
    if (rows != all->buffer || own != all) {
        char *mine = iso_rows_my_block(a, rows, bytes);
        error = iso_blocks_pack(own, own_block, mine, a->row);
    }
    char *row = iso_rows_mine(a, rows, bytes);
    error = iso_phases_first(error, gather_row(a, row, (int)bytes));
    error =
        iso_phases_first(error, gather_column(a, rows, (int)bytes, a->rank));
    error = iso_phases_first(error, iso_rows_unpack(a, all, rows));
    iso_rows_free(all, rows);
    return error;
}

int iso_grid_gather(const void *send, int send_count, MPI_Datatype send_type,
                    void *receive, int receive_count, MPI_Datatype receive_type,
                    int root, MPI_Comm comm, const iso_grid_t *grid)
{
    iso_rooted_t at;
    int error =
        iso_rooted_begin((iso_given_t){send, send_count, send_type},
                         (iso_given_t){receive, receive_count, receive_type},
                         root, comm, grid, &at);
    if (error != MPI_SUCCESS) {
        return error;
    }
    const iso_arrangement_t *a = at.arrangement;
    if (a == NULL) {
        return PMPI_Gather(send, send_count, send_type, receive, receive_count,
                           receive_type, root, comm);
    }
    if (at.part == ISO_PART_ROOT) {
        error = at.in_place ? collect(a, &at.all, root, &at.all)
                            : collect(a, &at.own, 0, &at.all);
    } else if (at.part == ISO_PART_LEADER) {
        error = lead(a, &at.own, root);
    } else {
        error = give(a, &at.own, at.leader);
    }
    return iso_phases_end(comm, error);
}
