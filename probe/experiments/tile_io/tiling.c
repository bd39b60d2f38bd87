/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/tile_io/tiling.h"

#include "base/check.h"

/** Width of the whole array, elements. */
static long long array_width(const iso_tiling_t *t)
{
    return (long long)t->x * (t->width - t->overlap_x) + t->overlap_x;
}

static long long array_height(const iso_tiling_t *t)
{
    return (long long)t->y * (t->height - t->overlap_y) + t->overlap_y;
}

long long iso_tiling_bytes(const iso_tiling_t *t)
{
    return array_width(t) * array_height(t) * t->element;
}

long long iso_tiling_tile(const iso_tiling_t *t)
{
    return (long long)t->width * t->height * t->element;
}

long long iso_tiling_offset(const iso_tiling_t *t, int rank, int row)
{
    long long left = (long long)(rank % t->x) * (t->width - t->overlap_x);
    long long top = (long long)(rank / t->x) * (t->height - t->overlap_y);
    return ((top + row) * array_width(t) + left) * t->element;
}

MPI_Datatype iso_tiling_view(const iso_tiling_t *t, int rank)
{
    MPI_Datatype element, view;
    int sizes[2] = {array_height(t), array_width(t)};
    int subsizes[2] = {t->height, t->width};
    int starts[2] = {rank / t->x * (t->height - t->overlap_y),
                     rank % t->x * (t->width - t->overlap_x)};
    MPI_CHECK(MPI_Type_contiguous(t->element, MPI_BYTE, &element));
    MPI_CHECK(MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C,
                                       element, &view));
    MPI_CHECK(MPI_Type_commit(&view));
    MPI_CHECK(MPI_Type_free(&element));
    return view;
}

int iso_tiling_interleaved(const iso_tiling_t *t)
{
    long long row = (long long)t->width * t->element;
    for (int rank = 1; rank < t->x * t->y; rank++) {
        long long begin = iso_tiling_offset(t, rank, 0);
        long long end = iso_tiling_offset(t, rank - 1, t->height - 1) + row;
        if (begin < end) {
            return 1;
        }
    }
    return 0;
}

void iso_tiling_fill(const iso_tiling_t *t, int rank, int seed,
                     unsigned char *tile)
{
    long long length = (long long)t->width * t->element;
    for (int row = 0; row < t->height; row++) {
        long long offset = iso_tiling_offset(t, rank, row);
        for (long long k = 0; k < length; k++) {
            *tile++ = iso_tiling_byte(offset + k, seed);
        }
    }
}

long long iso_tiling_differ(const iso_tiling_t *t, int rank, int seed,
                            const unsigned char *tile, long long *where)
{
    long long differ = 0, length = (long long)t->width * t->element;
    for (int row = 0; row < t->height; row++) {
        long long offset = iso_tiling_offset(t, rank, row);
        for (long long k = 0; k < length; k++) {
            if (*tile++ != iso_tiling_byte(offset + k, seed) && !differ++) {
                *where = offset + k;
            }
        }
    }
    return differ;
}
