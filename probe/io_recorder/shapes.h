/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file shapes.h
 * What accesses look like, each once: their pieces, counted from the first.
 */
#pragma once

#include "io_recorder/pieces.h"
#include "recording/map.h"

enum { ISO_MAX_STORED_RUNS = 1 << 20 }; /**< of all shapes; 32 MiB */

typedef struct {
    uint64_t hash; /**< the same at all ranks */
    iso_run_t *runs;
    int used;
    int64_t bytes, pieces;
    bool left_out; /**< too many runs: not stored */
} iso_shape_t;

typedef struct {
    iso_shape_t *list;
    int used, room;
    int64_t runs; /**< stored */
    iso_map_t by_hash;
} iso_shapes_t;

iso_shapes_t iso_shapes(void);

/**
 * Store the shape of a complete list of pieces.
 *
 * @param base  set to the offset of the first piece
 * @return the number of the shape
 */
int iso_shapes_add(iso_shapes_t *shapes, const iso_pieces_t *list,
                   int64_t *base);

void iso_shapes_free(iso_shapes_t *shapes);
