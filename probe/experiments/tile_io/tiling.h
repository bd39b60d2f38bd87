/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file tiling.h
 * The access pattern of mpi-tile-io: a dense two-dimensional array in a file,
 * cut into tiles, one per rank, row by row of tiles. Offsets and lengths in
 * bytes where not said otherwise.
 */
#pragma once

#include <mpi.h>

typedef struct {
    int x, y;                 /**< tiles in a row, and rows of them */
    int width, height;        /**< of a tile, elements */
    int overlap_x, overlap_y; /**< elements that neighbours share */
    int element;              /**< bytes */
} iso_tiling_t;

/** Length of the file. */
long long iso_tiling_bytes(const iso_tiling_t *tiling);

/** Length of a tile. */
long long iso_tiling_tile(const iso_tiling_t *tiling);

/** Where row @a row of the tile of @a rank begins in the file. */
long long iso_tiling_offset(const iso_tiling_t *tiling, int rank, int row);

/** The file view of a rank, committed; its elements are bytes. */
MPI_Datatype iso_tiling_view(const iso_tiling_t *tiling, int rank);

/**
 * Whether a rank's bytes begin before those of the rank before it end: what
 * ROMIO calls interleaved. If no rank's do, its "automatic" does not access
 * the file collectively.
 */
int iso_tiling_interleaved(const iso_tiling_t *tiling);

/** The byte at an offset of a file written in repetition @a seed. */
static inline unsigned char iso_tiling_byte(long long offset, int seed)
{
    unsigned long long z =
        (unsigned long long)offset + ((unsigned long long)seed << 44);
    return (unsigned char)(((z ^ (z >> 7)) * 0x9e3779b97f4a7c15u) >> 56);
}

/** Fill a tile with the bytes that belong there. */
void iso_tiling_fill(const iso_tiling_t *tiling, int rank, int seed,
                     unsigned char *tile);

/**
 * Compare a tile with the bytes that belong there.
 *
 * @param where  offset in the file of the first that differs
 * @return how many differ
 */
long long iso_tiling_differ(const iso_tiling_t *tiling, int rank, int seed,
                            const unsigned char *tile, long long *where);
