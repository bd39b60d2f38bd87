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
        return ISO_REFUSE(
            error, "--op: there is no operation '%.*s' (--help lists them)",
            shown, word);
    }
    if (grids && !on_grid(found)) {
        return ISO_REFUSE(
            error,
            "--grid: %s has no realisation on a grid (give --op without "
            "it; --op all takes those that have one)",
            found->name);
    }
    for (int k = 0; grids && k < asked->operation_count; k++) {
        if (asked->operations[k] == found) {
            return ISO_REFUSE(
                error, "--op names %s twice (with --grid once is enough)",
                found->name);
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
        return ISO_REFUSE(error, "--grid: at most %d grids", ISO_MAX_ASKED);
    }
    if (iso_grid_parse(word, length, grid, why)) {
        return ISO_REFUSE(error, "--grid: %.240s", why);
    }
    for (int k = 0; k < asked->grid_count; k++) {
        if (same(&asked->grids[k], grid)) {
            return ISO_REFUSE(error,
                              "--grid names '%.*s' twice (once is enough)",
                              (int)(length < SHOWN ? length : SHOWN), word);
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
            return ISO_REFUSE(error, "--grid: %.240s", why);
        }
    }
    return 0;
}
