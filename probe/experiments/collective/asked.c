/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/collective/asked.h"

#include "base/sizes.h"
#include "grid/collectives.h"

#include <stdio.h>
#include <string.h>

/** Characters of a wrong word that are repeated. */
enum { SHOWN = 40 };

static bool on_grid(const iso_operation_t *operation)
{
    return iso_grid_operation_find(operation->name, strlen(operation->name));
}

static void take_all(iso_asked_t *asked, bool grids)
{
    for (const iso_operation_t *o = iso_operations; o->name; o++) {
        if (!grids || on_grid(o)) {
            asked->operations[asked->operation_count++] = o;
        }
    }
}

static int take_operation(iso_asked_t *asked, const char *word, size_t length,
                          bool grids, char *error)
{
    const iso_operation_t *found = iso_operation_find(word, length);
    int shown = (int)(length < SHOWN ? length : SHOWN);
    if (found == NULL || asked->operation_count == ISO_MAX_ASKED) {
        snprintf(error, ISO_ERROR_LENGTH,
                 "--op: there is no operation '%.*s' (--help lists them)",
                 shown, word);
        return -1;
    }
    if (grids && !on_grid(found)) {
        snprintf(error, ISO_ERROR_LENGTH,
                 "--grid: %s has no realisation on a grid (give --op without "
                 "it; --op all takes those that have one)",
                 found->name);
        return -1;
    }
    for (int k = 0; grids && k < asked->operation_count; k++) {
        if (asked->operations[k] == found) {
            snprintf(error, ISO_ERROR_LENGTH,
                     "--op names %s twice (with --grid once is enough)",
                     found->name);
            return -1;
        }
    }
    asked->operations[asked->operation_count++] = found;
    return 0;
}

static bool same(const iso_grid_t *a, const iso_grid_t *b)
{
    return a->kind == b->kind && a->rows == b->rows && a->length == b->length;
}

static int take_grid(iso_asked_t *asked, const char *word, size_t length,
                     char *error)
{
    iso_grid_t *grid = &asked->grids[asked->grid_count];
    char why[ISO_ERROR_LENGTH];
    if (asked->grid_count == ISO_MAX_ASKED) {
        snprintf(error, ISO_ERROR_LENGTH, "--grid: at most %d grids",
                 ISO_MAX_ASKED);
        return -1;
    }
    if (iso_grid_parse(word, length, grid, why)) {
        snprintf(error, ISO_ERROR_LENGTH, "--grid: %.240s", why);
        return -1;
    }
    for (int k = 0; k < asked->grid_count; k++) {
        if (same(&asked->grids[k], grid)) {
            snprintf(error, ISO_ERROR_LENGTH,
                     "--grid names '%.*s' twice (once is enough)",
                     (int)(length < SHOWN ? length : SHOWN), word);
            return -1;
        }
    }
    asked->grid_count++;
    return 0;
}

int iso_asked_parse(const char *operations, const char *grids,
                    iso_asked_t *asked, char *error)
{
    memset(asked, 0, sizeof(*asked));
    for (const char *rest = grids; rest;) {
        size_t length = strcspn(rest, ",");
        if (take_grid(asked, rest, length, error)) {
            return -1;
        }
        rest = rest[length] ? rest + length + 1 : NULL;
    }
    if (strcmp(operations, "all") == 0) {
        take_all(asked, grids != NULL);
        return 0;
    }
    for (const char *rest = operations; rest;) {
        size_t length = strcspn(rest, ",");
        if (take_operation(asked, rest, length, grids != NULL, error)) {
            return -1;
        }
        rest = rest[length] ? rest + length + 1 : NULL;
    }
    return 0;
}

bool iso_asked_reduces(const iso_asked_t *asked)
{
    for (int k = 0; k < asked->operation_count; k++) {
        if (asked->operations[k]->reduces) {
            return true;
        }
    }
    return false;
}

int iso_asked_check_ranks(const iso_asked_t *asked, int ranks, char *error)
{
    char why[ISO_ERROR_LENGTH];
    for (int k = 0; k < asked->grid_count; k++) {
        if (iso_grid_check(&asked->grids[k], ranks, why)) {
            snprintf(error, ISO_ERROR_LENGTH, "--grid: %.240s", why);
            return -1;
        }
    }
    return 0;
}
