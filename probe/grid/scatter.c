/* SPDX-License-Identifier: BSD-3-Clause */
#include "grid/blocks.h"
#include "grid/collectives.h"
#include "grid/phases.h"
#include "grid/rooted.h"
#include "grid/rows.h"

#include <stdlib.h>

/** At a rank that is not the leader of its row. */
static int take(const iso_arrangement_t *a, const iso_blocks_t *own, int leader)
{
    int bytes = (int)own->bytes;
    char *packed = own->dense ? own->buffer : malloc((size_t)bytes);
    if (packed == NULL) {
        return MPI_ERR_NO_MEM;
    }
    int error = PMPI_Scatter(NULL, 0, MPI_BYTE, packed, bytes, MPI_BYTE, leader,
                             a->row);
    if (!own->dense) {
        error =
            iso_phases_first(error, iso_blocks_unpack(own, 0, packed, a->row));
        free(packed);
    }
    return error;
}

/** Scatter a row from its leader, whose own block stays where it is. */
static int scatter_row(const iso_arrangement_t *a, const char *row, int bytes)
{
    return PMPI_Scatter(row, bytes, MPI_BYTE, MPI_IN_PLACE, 0, MPI_BYTE,
                        a->column_of[a->rank], a->row);
}

/**
 * Scatter the rows in the column of the root.
 * @param rows  what a leader gets; at the root the blocks of all rows, of which
 *              its own stays where it is
 */
static int scatter_column(const iso_arrangement_t *a, char *rows, int bytes,
                          int root)
{
    MPI_Comm column = a->columns[a->column_of[root]];
    int at = a->row_of[root], mine = a->lengths[a->row_of[a->rank]] * bytes;
    if (a->even) {
        return a->rank == root
                   ? PMPI_Scatter(rows, mine, MPI_BYTE, MPI_IN_PLACE, 0,
                                  MPI_BYTE, at, column)
                   : PMPI_Scatter(NULL, 0, MPI_BYTE, rows, mine, MPI_BYTE, at,
                                  column);
    }
    if (a->rank != root) {
        return PMPI_Scatterv(NULL, NULL, NULL, MPI_BYTE, rows, mine, MPI_BYTE,
                             at, column);
    }
    int *counts = iso_rows_counts(a, bytes);
    if (counts == NULL) {
        return MPI_ERR_NO_MEM;
    }
    int error = PMPI_Scatterv(rows, counts, counts + a->rows, MPI_BYTE,
                              MPI_IN_PLACE, 0, MPI_BYTE, at, column);
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
    int error = scatter_column(a, row, bytes, root);
    error = iso_phases_first(error, scatter_row(a, row, bytes));
    error = iso_phases_first(error, iso_blocks_unpack(own, 0, mine, a->row));
    free(row);
    return error;
}

/**
 * At the root, from the caller's buffer if it is in the order of the rows.
 * @param own  NULL if the root's block stays in the caller's buffer
 */
static int hand_out(const iso_arrangement_t *a, const iso_blocks_t *all,
                    const iso_blocks_t *own)
{
    size_t bytes = (size_t)all->bytes;
    char *rows = iso_rows_alloc(a, all);
    if (rows == NULL) {
        return MPI_ERR_NO_MEM;
    }
    char *row = iso_rows_mine(a, rows, bytes);
    char *mine = iso_rows_my_block(a, rows, bytes);
    int error = iso_rows_pack(a, all, rows);
    error =
        iso_phases_first(error, scatter_column(a, rows, (int)bytes, a->rank));
    error = iso_phases_first(error, scatter_row(a, row, (int)bytes));
    if (own != NULL) {
        error =
            iso_phases_first(error, iso_blocks_unpack(own, 0, mine, a->row));
    }
    iso_rows_free(all, rows);
    return error;
}

int iso_grid_scatter(const void *send, int send_count, MPI_Datatype send_type,
                     void *receive, int receive_count,
                     MPI_Datatype receive_type, int root, MPI_Comm comm,
                     const iso_grid_t *grid)
{
    iso_rooted_t at;
    int error = iso_rooted_begin(
        (iso_given_t){receive, receive_count, receive_type},
        (iso_given_t){send, send_count, send_type}, root, comm, grid, &at);
    if (error != MPI_SUCCESS) {
        return error;
    }
    const iso_arrangement_t *a = at.arrangement;
    if (a == NULL) {
        return PMPI_Scatter(send, send_count, send_type, receive, receive_count,
                            receive_type, root, comm);
    }
    if (at.part == ISO_PART_ROOT) {
        error = hand_out(a, &at.all, at.in_place ? NULL : &at.own);
    } else if (at.part == ISO_PART_LEADER) {
        error = lead(a, &at.own, root);
    } else {
        error = take(a, &at.own, at.leader);
    }
    return iso_phases_end(comm, error);
}
