/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file pieces.h
 * Contiguous pieces of a file, folded while they are added, so that what is
 * regular takes no memory: a run is `count` pieces of `length` bytes, at
 * distance `stride`. Pieces that touch become one. How they are folded depends
 * on the bytes alone, not on the datatypes that described them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { ISO_MAX_RUNS = 1 << 18 }; /**< of one list; 8 MiB */

typedef struct {
    int64_t offset, length, count;
    int64_t stride; /**< 0 of a single piece */
} iso_run_t;

typedef struct {
    iso_run_t *runs;
    int used, room;
    iso_run_t last; /**< a piece that may still grow; count 0: none */
    int64_t bytes;  /**< of all pieces */
    int64_t pieces; /**< without the last, until it is ended */
    bool too_many;  /**< some are left out */
} iso_pieces_t;

/** Add pieces; @a stride is of no meaning if there is one. */
void iso_pieces_add(iso_pieces_t *list, int64_t offset, int64_t length,
                    int64_t count, int64_t stride);

/** Add all of another list, which was ended, shifted. */
void iso_pieces_add_all(iso_pieces_t *list, const iso_pieces_t *other,
                        int64_t shift);

/** Add another list, which was ended, several times. */
void iso_pieces_repeat(iso_pieces_t *list, const iso_pieces_t *other,
                       int64_t shift, int64_t count, int64_t stride);

/** Add the bytes of a list that was ended from its byte @a first to before
 *  its byte @a end, shifted. */
void iso_pieces_add_part(iso_pieces_t *list, const iso_pieces_t *other,
                         int64_t shift, int64_t first, int64_t end);

/** Nothing is added any more. */
void iso_pieces_end(iso_pieces_t *list);

void iso_pieces_free(iso_pieces_t *list);
