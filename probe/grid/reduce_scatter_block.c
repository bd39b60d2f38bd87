/* SPDX-License-Identifier: BSD-3-Clause */
#include "grid/collectives.h"
#include "grid/reduction.h"

#include <stdlib.h>

/**
 * Whether two phases are safe. MPICH (4.0 to 5.0 at least) writes beyond its
 * own memory where the operation does not commute, elements end in a gap and
 * the ranks are a power of two, which groups may be though the communicator is
 * not.
 */
static bool is_safe(MPI_Datatype type, MPI_Op operation)
{
    int commutes = 0;
    MPI_Aint low, extent, true_low, true_extent;
    return PMPI_Op_commutative(operation, &commutes) == MPI_SUCCESS &&
           PMPI_Type_get_extent(type, &low, &extent) == MPI_SUCCESS &&
           PMPI_Type_get_true_extent(type, &true_low, &true_extent) ==
               MPI_SUCCESS &&
           (commutes || extent <= true_extent);
}

/** Copy all blocks column by column, and from row to row within a column. */
static int copy_by_columns(const iso_arrangement_t *a, const iso_blocks_t *from,
                           const iso_blocks_t *to)
{
    char *packed = malloc(from->bytes);
    if (packed == NULL) {
        return MPI_ERR_NO_MEM;
    }
    int error = MPI_SUCCESS, at = 0;
    for (int c = 0; c < a->longest; c++) {
        for (int r = 0; r < a->rows; r++) {
            if (c >= a->lengths[r]) {
                continue;
            }
            int block = a->members[a->starts[r] + c];
            error = iso_phases_first(
                error, iso_blocks_pack(from, block, packed, a->row));
            error = iso_phases_first(
                error, iso_blocks_unpack(to, at++, packed, a->row));
        }
    }
    free(packed);
    return error;
}

/** First phase, in place: to each place of my row its columns' blocks. */
static int along_row(const iso_arrangement_t *a, const iso_blocks_t *all,
                     MPI_Op operation)
{
    int length = a->lengths[a->row_of[a->rank]];
    if (a->even) {
        return PMPI_Reduce_scatter_block(MPI_IN_PLACE, all->buffer,
                                         a->rows * all->count, all->type,
                                         operation, a->row);
    }
    int *counts = calloc(length, sizeof(int));
    if (counts == NULL) {
        return MPI_ERR_NO_MEM;
    }
    for (int c = 0; c < a->longest; c++) {
        int place = c < length ? c : length - 1;
        counts[place] += a->heights[c] * all->count;
    }
    int error = PMPI_Reduce_scatter(MPI_IN_PLACE, all->buffer, counts,
                                    all->type, operation, a->row);
    free(counts);
    return error;
}

/** Second phase: each rank of my columns gets its block; substitutes get
 * nothing. */
static int along_columns(const iso_arrangement_t *a, const iso_blocks_t *mine,
                         void *receive, MPI_Op operation)
{
    int own = a->column_of[a->rank], end = iso_arrangement_columns_end(a);
    if (a->even) {
        return PMPI_Reduce_scatter_block(mine->buffer, receive, mine->count,
                                         mine->type, operation,
                                         a->columns[own]);
    }
    int *counts = calloc(a->rows, sizeof(int));
    if (counts == NULL) {
        return MPI_ERR_NO_MEM;
    }
    int error = MPI_SUCCESS, block = 0;
    char nothing;
    for (int c = own; c < end; c++) {
        for (int r = 0; r < a->rows; r++) {
            counts[r] = c < a->lengths[r] ? mine->count : 0;
        }
        error = iso_phases_first(
            error, PMPI_Reduce_scatter(iso_blocks_at(mine, block),
                                       c == own ? receive : &nothing, counts,
                                       mine->type, operation, a->columns[c]));
        block += a->heights[c];
    }
    free(counts);
    return error;
}

int iso_grid_reduce_scatter_block(ISO_REDUCTION(int), MPI_Comm comm,
                                  const iso_grid_t *grid)
{
    const iso_arrangement_t *a = NULL;
    const void *input = send == MPI_IN_PLACE ? receive : send;
    if (iso_phases_rank(comm) >= 0 && receive != MPI_IN_PLACE) {
        int error = iso_reduction_begin(comm, grid, input, count, type,
                                        operation, true, &a);
        if (error != MPI_SUCCESS) {
            return error;
        }
    }
    if (a == NULL || !is_safe(type, operation)) {
        return PMPI_Reduce_scatter_block(send, receive, count, type, operation,
                                         comm);
    }
    iso_blocks_t all = iso_blocks_of(input, count, type);
    iso_elements_t copy = iso_elements_alloc((long long)a->size * count, type);
    if (copy.memory == NULL) {
        return iso_phases_end(comm, MPI_ERR_NO_MEM);
    }
    iso_blocks_t columns = all;
    columns.buffer = copy.buffer;
    int error = copy_by_columns(a, &all, &columns);
    error = iso_phases_first(error, along_row(a, &columns, operation));
    error =
        iso_phases_first(error, along_columns(a, &columns, receive, operation));
    iso_elements_free(&copy);
    return iso_phases_end(comm, error);
}
