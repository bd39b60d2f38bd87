/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file patterns.h
 * Calls whose pieces are the same at all ranks, up to one shift of all of them,
 * are one pattern.
 */
#ifndef ISO_PATTERNS_H
#define ISO_PATTERNS_H

#include "io_recorder/gathered.h"

#include <stdio.h>

enum { ISO_MAX_PATTERNS = 2048 };

typedef struct iso_pattern {
    int file;
    bool write, whole; /**< whole: no piece is left out */
    int64_t bytes, pieces, calls;
    int64_t reference; /**< of the first call */
    /** The first call, as all ranks know it. */
    iso_open_id_t of;
    int sequence;
} iso_pattern_t;

typedef struct iso_patterns {
    iso_pattern_t *list;
    int used;
    int64_t left_out; /**< calls of none */
} iso_patterns_t;

/** Find the patterns; each call gets its number, or -1. At rank 0. */
iso_patterns_t iso_patterns_find(iso_gathered_t *all);

/**
 * Write the pieces of all patterns. Collective; patterns come from rank 0,
 * where those are marked that are not whole.
 */
void iso_patterns_pieces(iso_patterns_t *patterns,
                         const iso_io_recording_t *recording, FILE *stream,
                         MPI_Comm comm);

#endif
