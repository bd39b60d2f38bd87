/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file shape.h
 * How p ranks are arranged as rows of a grid: what the user types.
 *
 *     4x8         4 rows of 8 consecutive ranks; p must be 32
 *     rows-of-5   rows of 5 consecutive ranks, the last one may be shorter
 *     nodes       one row for each node, of the ranks that are on it
 *
 * Needs no MPI.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { ISO_GRID_WORD = 32 };

typedef enum {
    ISO_GRID_EXACT,   /**< rows x length ranks */
    ISO_GRID_ROWS_OF, /**< as many rows of length ranks as it takes */
    ISO_GRID_NODES,   /**< rows are nodes */
} iso_grid_kind_t;

/** A grid as it is typed. */
typedef struct iso_grid {
    iso_grid_kind_t kind;
    int rows;   /**< ISO_GRID_EXACT: p1; else 0 */
    int length; /**< ranks of a row (p2); 0 for ISO_GRID_NODES */
} iso_grid_t;

/** Whether two grids are requested by the same word. */
static inline bool iso_grid_equal(const iso_grid_t *a, const iso_grid_t *b)
{
    return a->kind == b->kind && a->rows == b->rows && a->length == b->length;
}

/**
 * Read the first @a length characters of @a word.
 * @return 0, or -1 with one line in @a error (ISO_ERROR_LENGTH bytes)
 */
int iso_grid_parse(const char *word, size_t length, iso_grid_t *grid,
                   char *error);

/** Write it as it is typed, at most ISO_GRID_WORD bytes. */
void iso_grid_word(const iso_grid_t *grid, char *word);

/**
 * Check it against a number of ranks.
 * @return 0, or -1 with one line in @a error
 */
int iso_grid_check(const iso_grid_t *grid, int ranks, char *error);
