/* SPDX-License-Identifier: BSD-3-Clause */
#include "grid/layout.h"

#include <stdlib.h>

/** Most blocks in a buffer that is exchanged at once, with displacements. */
static long long most_blocks(const iso_arrangement_t *a)
{
    long long most =
        a->even ? (a->rows > a->longest ? a->rows : a->longest) : a->size;
    for (int r = 0; r < a->rows && !a->even; r++) {
        long long last =
            0; /* what the last rank of a row takes of the others */
        for (int c = a->lengths[r] - 1; c < a->longest; c++) {
            last += a->heights[c];
        }
        last *= a->lengths[r];
        most = last > most ? last : most;
    }
    return most;
}

bool iso_layout_fill(iso_arrangement_t *a, const int *row_of, int **memory)
{
    int size = a->size;
    a->rows = 0;
    for (int k = 0; k < size; k++) {
        a->rows = row_of[k] >= a->rows ? row_of[k] + 1 : a->rows;
    }
    /* No row is longer than size - rows + 1. */
    size_t room = 3 * (size_t)size + (size_t)a->rows + 1;
    int *column_of = *memory = calloc(room, sizeof(int));
    if (column_of == NULL) {
        return false;
    }
    int *members = column_of + size, *lengths = members + size;
    int *starts = lengths + a->rows, *heights = starts + a->rows;
    for (int k = 0; k < size; k++) {
        column_of[k] = lengths[row_of[k]]++;
        heights[column_of[k]]++;
    }
    a->even = a->in_rank_order = true;
    a->longest = 0;
    for (int r = 0; r < a->rows; r++) {
        starts[r] = r > 0 ? starts[r - 1] + lengths[r - 1] : 0;
        a->longest = lengths[r] > a->longest ? lengths[r] : a->longest;
        a->even = a->even && lengths[r] == lengths[0];
    }
    for (int k = 0; k < size; k++) {
        int place = starts[row_of[k]] + column_of[k];
        members[place] = k;
        a->in_rank_order = a->in_rank_order && place == k;
    }
    a->row_of = row_of;
    a->column_of = column_of;
    a->members = members;
    a->lengths = lengths;
    a->starts = starts;
    a->heights = heights;
    a->most_blocks = most_blocks(a);
    return true;
}
