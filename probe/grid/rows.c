/* SPDX-License-Identifier: BSD-3-Clause */
#include "grid/rows.h"

#include "grid/phases.h"

#include <stdlib.h>

bool iso_rows_in_buffer(const iso_arrangement_t *a, const iso_blocks_t *all)
{
    return all->dense && a->in_rank_order;
}

char *iso_rows_alloc(const iso_arrangement_t *a, const iso_blocks_t *all)
{
    return iso_rows_in_buffer(a, all) ? all->buffer
                                      : malloc(a->size * all->bytes);
}

void iso_rows_free(const iso_blocks_t *all, char *rows)
{
    if (rows != all->buffer) {
        free(rows);
    }
}

int iso_rows_pack(const iso_arrangement_t *a, const iso_blocks_t *all,
                  char *rows)
{
    int error = MPI_SUCCESS;
    for (int k = 0; k < a->size && rows != all->buffer; k++) {
        error = iso_phases_first(
            error,
            iso_blocks_pack(all, a->members[k], rows + k * all->bytes, a->row));
    }
    return error;
}

int iso_rows_unpack(const iso_arrangement_t *a, const iso_blocks_t *all,
                    const char *rows)
{
    int error = MPI_SUCCESS;
    for (int k = 0; k < a->size && rows != all->buffer; k++) {
        error = iso_phases_first(error, iso_blocks_unpack(all, a->members[k],
                                                          rows + k * all->bytes,
                                                          a->row));
    }
    return error;
}

char *iso_rows_mine(const iso_arrangement_t *a, char *rows, size_t bytes)
{
    return rows + a->starts[a->row_of[a->rank]] * bytes;
}

int *iso_rows_counts(const iso_arrangement_t *a, int bytes)
{
    int *counts = calloc(2 * (size_t)a->rows, sizeof(int));
    for (int r = 0; counts != NULL && r < a->rows; r++) {
        counts[r] = a->lengths[r] * bytes;
        counts[a->rows + r] = a->starts[r] * bytes;
    }
    return counts;
}
