/* SPDX-License-Identifier: BSD-3-Clause */
#include "grid/shape.h"

#include "base/sizes.h"

#include <string.h>

enum { MOST_DIGITS = 9 };

static const char rows_of[] = "rows-of-";
static const char nodes[] = "nodes";

/** Read a whole number from 1 that ends at @a end; 0 if it is none. */
static int whole_number(const char *word, const char *end)
{
    int value = 0;
    if (end - word < 1 || end - word > MOST_DIGITS || *word == '0') {
        return 0;
    }
    for (; word < end; word++) {
        if (*word < '0' || *word > '9') {
            return 0;
        }
        value = 10 * value + (*word - '0');
    }
    return value;
}

/** Read "4x8". */
static bool parse_exact(const char *word, const char *end, iso_grid_t *grid)
{
    const char *x = memchr(word, 'x', (end - word));
    if (x == NULL) {
        return false;
    }
    *grid = (iso_grid_t){.kind = ISO_GRID_EXACT,
                         .rows = whole_number(word, x),
                         .length = whole_number(x + 1, end)};
    return grid->rows > 0 && grid->length > 0;
}

/** Read "rows-of-5". */
static bool parse_rows_of(const char *word, const char *end, iso_grid_t *grid)
{
    size_t prefix = sizeof(rows_of) - 1;
    if ((size_t)(end - word) <= prefix || memcmp(word, rows_of, prefix) != 0) {
        return false;
    }
    *grid = (iso_grid_t){.kind = ISO_GRID_ROWS_OF,
                         .length = whole_number(word + prefix, end)};
    return grid->length > 0;
}

int iso_grid_parse(const char *word, size_t length, iso_grid_t *grid,
                   char *error)
{
    const char *end = word + length;
    if (length == sizeof(nodes) - 1 && memcmp(word, nodes, length) == 0) {
        *grid = (iso_grid_t){.kind = ISO_GRID_NODES};
        return 0;
    }
    if (parse_rows_of(word, end, grid) || parse_exact(word, end, grid)) {
        return 0;
    }
    return ISO_REFUSE(error,
                      "'%.*s' is not a grid; give 4x8, rows-of-8 or nodes",
                      (int)(length < 40 ? length : 40), word);
}

void iso_grid_word(const iso_grid_t *grid, char *word)
{
    switch (grid->kind) {
    case ISO_GRID_EXACT:
        snprintf(word, ISO_GRID_WORD, "%dx%d", grid->rows, grid->length);
        break;
    case ISO_GRID_ROWS_OF:
        snprintf(word, ISO_GRID_WORD, "%s%d", rows_of, grid->length);
        break;
    case ISO_GRID_NODES:
        snprintf(word, ISO_GRID_WORD, "%s", nodes);
        break;
    }
}

int iso_grid_check(const iso_grid_t *grid, int ranks, char *error)
{
    char word[ISO_GRID_WORD];
    long long room = (long long)grid->rows * grid->length;
    if (grid->kind != ISO_GRID_EXACT || room == ranks) {
        return 0;
    }
    iso_grid_word(grid, word);
    return ISO_REFUSE(error, "grid %s has %lld ranks, not %d", word, room,
                      ranks);
}
