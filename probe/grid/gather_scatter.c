/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file gather_scatter.c
 * Gather and scatter: the same blocks go the same ways, in opposite
 * directions. Every rank has a block, the root also those of all.
 */
#include "grid/collectives.h"
#include "grid/phases.h"
#include "grid/rows.h"

#include <stdlib.h>

/** A buffer as the caller gives it. */
typedef struct {
    const void *buffer;
    int count; /**< of a block */
    MPI_Datatype type;
} given_t;

typedef struct {
    const iso_arrangement_t *a; /**< NULL: the library is to do it */
    bool gathers;
    bool in_place;    /**< my block is among those of all; at the root only */
    int root, leader; /**< leader: of my row, in the row */
    iso_blocks_t own, all; /**< all: at the root, elsewhere as own */
} rooted_t;

/**
 * Find out what a rank has to do.
 *
 * @param own  the block that every rank has; MPI_IN_PLACE at the root if it is
 *             among all
 * @param all  the blocks of all ranks; looked at by the root only
 * @return an MPI error code, of which the error handler of @a comm knows
 */
static int begin(given_t own, given_t all, int root, MPI_Comm comm,
                 const iso_grid_t *grid, rooted_t *found)
{
    int rank = iso_phases_rank(comm);
    bool is_root = rank == root;
    *found = (rooted_t){.in_place = own.buffer == MPI_IN_PLACE,
                        .root = root,
                        .own = {.bytes = -1},
                        .all = {.bytes = -1}};
    if (!found->in_place) {
        found->own = iso_blocks_of(own.buffer, own.count, own.type);
        found->all = found->own;
    }
    if (is_root) {
        found->all = iso_blocks_of(all.buffer, all.count, all.type);
    }
    bool alike =
        (found->in_place && is_root) || found->own.bytes == found->all.bytes;
    if (rank < 0 || !iso_phases_root(comm, root) || !alike ||
        (is_root && all.buffer == MPI_IN_PLACE)) {
        return MPI_SUCCESS;
    }
    int error = iso_phases_begin(comm, grid, found->all.bytes, true, &found->a);
    if (found->a) {
        found->leader = iso_arrangement_place(found->a, found->a->row_of[rank],
                                              found->a->column_of[root]);
    }
    return error;
}

/** Move a block of each rank. @param mine  MPI_IN_PLACE at the root
 *  @param all  NULL elsewhere */
static int move(bool gathers, void *mine, void *all, int bytes, int root,
                MPI_Comm comm)
{
    return gathers ? PMPI_Gather(mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE,
                                 root, comm)
                   : PMPI_Scatter(all, bytes, MPI_BYTE, mine, bytes, MPI_BYTE,
                                  root, comm);
}

/** At a rank that is not the leader of its row. */
static int follow(const rooted_t *at)
{
    const iso_blocks_t *own = &at->own;
    MPI_Comm row = at->a->row;
    int bytes = own->bytes, error = MPI_SUCCESS;
    char *packed = own->dense ? own->buffer : malloc(bytes);
    if (packed == NULL) {
        return MPI_ERR_NO_MEM;
    }
    if (at->gathers && !own->dense) {
        error = iso_blocks_pack(own, 0, packed, row);
    }
    error = iso_phases_first(
        error, move(at->gathers, packed, NULL, bytes, at->leader, row));
    if (!at->gathers && !own->dense) {
        error = iso_phases_first(error, iso_blocks_unpack(own, 0, packed, row));
    }
    if (!own->dense) {
        free(packed);
    }
    return error;
}

/**
 * Move the rows in the column of the root.
 * @param rows  what a leader has; at the root the blocks of all rows, of which
 *              its own stays where it is
 */
static int move_column(const rooted_t *at, char *rows, int bytes)
{
    const iso_arrangement_t *a = at->a;
    MPI_Comm column = a->columns[a->column_of[at->root]];
    bool is_root = a->rank == at->root;
    int root = a->row_of[at->root], *counts = NULL, *starts = NULL;
    int own = a->lengths[a->row_of[a->rank]] * bytes;
    char *mine = is_root ? MPI_IN_PLACE : rows, *all = is_root ? rows : NULL;
    if (a->even) {
        return move(at->gathers, mine, all, own, root, column);
    }
    if (is_root) {
        counts = iso_rows_counts(a, bytes);
        if (counts == NULL) {
            return MPI_ERR_NO_MEM;
        }
        starts = counts + a->rows;
    }
    int error = at->gathers ? PMPI_Gatherv(mine, own, MPI_BYTE, all, counts,
                                           starts, MPI_BYTE, root, column)
                            : PMPI_Scatterv(all, counts, starts, MPI_BYTE, mine,
                                            own, MPI_BYTE, root, column);
    free(counts);
    return error;
}

/** At the leader of a row. At the root in the caller's buffer, if that is in
 *  the order of the rows. */
static int lead(const rooted_t *at)
{
    const iso_arrangement_t *a = at->a;
    const iso_blocks_t *all = &at->all;
    bool is_root = a->rank == at->root;
    int column = a->column_of[a->rank], error = MPI_SUCCESS;
    size_t bytes = all->bytes;
    char *rows = is_root ? iso_rows_alloc(a, all)
                         : malloc(a->lengths[a->row_of[a->rank]] * bytes);
    if (rows == NULL) {
        return MPI_ERR_NO_MEM;
    }
    char *row = is_root ? iso_rows_mine(a, rows, bytes) : rows;
    char *mine = row + column * bytes;
    if (at->gathers && !at->in_place) {
        error = iso_blocks_pack(&at->own, 0, mine, a->row);
    } else if (at->gathers && rows != all->buffer) {
        error = iso_blocks_pack(all, at->root, mine, a->row);
    } else if (is_root && !at->gathers) {
        error = iso_rows_pack(a, all, rows);
    }
    for (int phase = 0; phase < 2; phase++) {
        bool in_row = at->gathers == (phase == 0);
        error =
            iso_phases_first(error, in_row ? move(at->gathers, MPI_IN_PLACE,
                                                  row, bytes, column, a->row)
                                           : move_column(at, rows, bytes));
    }
    if (is_root && at->gathers) {
        error = iso_phases_first(error, iso_rows_unpack(a, all, rows));
    } else if (!at->gathers && !at->in_place) {
        error = iso_phases_first(error,
                                 iso_blocks_unpack(&at->own, 0, mine, a->row));
    }
    if (is_root) {
        iso_rows_free(all, rows);
    } else {
        free(rows);
    }
    return error;
}

static int run(rooted_t *at, bool gathers, MPI_Comm comm)
{
    at->gathers = gathers;
    bool leads = at->a->column_of[at->a->rank] == at->leader;
    return iso_phases_end(comm, leads ? lead(at) : follow(at));
}

int iso_grid_gather(ISO_BLOCKS(int), int root, MPI_Comm comm,
                    const iso_grid_t *grid)
{
    rooted_t at;
    int error = begin((given_t){send, send_count, send_type},
                      (given_t){receive, receive_count, receive_type}, root,
                      comm, grid, &at);
    if (at.a) {
        return run(&at, true, comm);
    }
    return error != MPI_SUCCESS
               ? error
               : PMPI_Gather(send, send_count, send_type, receive,
                             receive_count, receive_type, root, comm);
}

int iso_grid_scatter(ISO_BLOCKS(int), int root, MPI_Comm comm,
                     const iso_grid_t *grid)
{
    rooted_t at;
    int error =
        begin((given_t){receive, receive_count, receive_type},
              (given_t){send, send_count, send_type}, root, comm, grid, &at);
    if (at.a) {
        return run(&at, false, comm);
    }
    return error != MPI_SUCCESS
               ? error
               : PMPI_Scatter(send, send_count, send_type, receive,
                              receive_count, receive_type, root, comm);
}
