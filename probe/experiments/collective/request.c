/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/collective/request.h"

#include "base/sizes.h"
#include "grid/collectives.h"

#include <string.h>

/** Characters of a wrong word that messages repeat. */
enum { SHOWN = 40 };

static void take_all(iso_op_request_t *request, bool grids)
{
    for (const iso_operation_t *o = iso_operations; o->name; o++) {
        if (!grids || iso_grid_operation_find(o->name)) {
            request->operations[request->operation_count++] = o;
        }
    }
}

static int take_operation(iso_op_request_t *request, const char *word,
                          size_t length, bool grids, char *error)
{
    const iso_operation_t *found = iso_operation_find(word, length);
    int shown = (int)(length < SHOWN ? length : SHOWN);
    if (found == NULL || request->operation_count == ISO_MAX_OP_REQUESTS) {
        return ISO_REFUSE(
            error, "--op: there is no operation '%.*s' (--help lists them)",
            shown, word);
    }
    if (grids && !iso_grid_operation_find(found->name)) {
        return ISO_REFUSE(error,
                          "--grid: %s has no grid algorithm; remove it from "
                          "--op, or give --op all",
                          found->name);
    }
    for (int k = 0; grids && k < request->operation_count; k++) {
        if (request->operations[k] == found) {
            return ISO_REFUSE(error, "--op lists %s twice", found->name);
        }
    }
    request->operations[request->operation_count++] = found;
    return 0;
}

static int take_grid(iso_op_request_t *request, const char *word, size_t length,
                     char *error)
{
    iso_grid_t *grid = &request->grids[request->grid_count];
    char why[ISO_ERROR_LENGTH];
    if (request->grid_count == ISO_MAX_OP_REQUESTS) {
        return ISO_REFUSE(error, "--grid: at most %d grids",
                          ISO_MAX_OP_REQUESTS);
    }
    if (iso_grid_parse(word, length, grid, why)) {
        return ISO_REFUSE(error, "--grid: %.240s", why);
    }
    for (int k = 0; k < request->grid_count; k++) {
        if (iso_grid_equal(&request->grids[k], grid)) {
            return ISO_REFUSE(error, "--grid lists '%.*s' twice",
                              (int)(length < SHOWN ? length : SHOWN), word);
        }
    }
    request->grid_count++;
    return 0;
}

static int take_form(iso_op_request_t *request, const char *word, size_t length,
                     char *error)
{
    bool all = length == 3 && strncmp(word, "all", length) == 0, taken = all;
    for (int f = 0; f < ISO_FORMS; f++) {
        const char *form = iso_form_names[f];
        if (all || (strlen(form) == length && !strncmp(word, form, length))) {
            request->forms[f] = taken = true;
        }
    }
    return taken ? 0
                 : ISO_REFUSE(error,
                              "--form: '%.*s' is not one of blocking, "
                              "nonblocking, persistent, all",
                              (int)(length < SHOWN ? length : SHOWN), word);
}

int iso_op_request_parse(const char *operations, const char *grids,
                         const char *forms, iso_op_request_t *request,
                         char *error)
{
    memset(request, 0, sizeof(*request));
    for (const char *rest = forms; rest;) {
        size_t length = strcspn(rest, ",");
        if (take_form(request, rest, length, error)) {
            return -1;
        }
        rest = rest[length] ? rest + length + 1 : NULL;
    }
    if (grids &&
        (request->forms[ISO_NONBLOCKING] || request->forms[ISO_PERSISTENT])) {
        return ISO_REFUSE(error, "--grid: algorithms on grids are only "
                                 "blocking; remove --form");
    }
    for (const char *rest = grids; rest;) {
        size_t length = strcspn(rest, ",");
        if (take_grid(request, rest, length, error)) {
            return -1;
        }
        rest = rest[length] ? rest + length + 1 : NULL;
    }
    if (strcmp(operations, "all") == 0) {
        take_all(request, grids != NULL);
        return 0;
    }
    for (const char *rest = operations; rest;) {
        size_t length = strcspn(rest, ",");
        if (take_operation(request, rest, length, grids != NULL, error)) {
            return -1;
        }
        rest = rest[length] ? rest + length + 1 : NULL;
    }
    return 0;
}

bool iso_op_request_reduces(const iso_op_request_t *request)
{
    for (int k = 0; k < request->operation_count; k++) {
        if (request->operations[k]->reduces) {
            return true;
        }
    }
    return false;
}

int iso_op_request_check_ranks(const iso_op_request_t *request, int ranks,
                               char *error)
{
    char why[ISO_ERROR_LENGTH];
    for (int k = 0; k < request->grid_count; k++) {
        if (iso_grid_check(&request->grids[k], ranks, why)) {
            return ISO_REFUSE(error, "--grid: %.240s", why);
        }
    }
    return 0;
}
