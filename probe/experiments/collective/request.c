/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/collective/request.h"

#include "base/sizes.h"
#include "base/words.h"
#include "grid/collectives.h"
#include "machine/clock.h"

#include <string.h>

/** Characters of a wrong word that messages repeat. */
enum { SHOWN = 40 };

/** Why an operation cannot be measured as it was asked for; or NULL. */
static const char *refusal(const iso_op_request_t *request,
                           const iso_operation_t *operation)
{
    const iso_element_t *element = iso_op_request_element(request, operation);
    if (request->grid_count && !iso_grid_operation_find(operation->name)) {
        return "--grid: %s has no grid algorithm; remove it from --op, or give "
               "--op all";
    }
    bool graph = strcmp(request->blocks.topology, "graph") == 0;
    if (operation->neighbors && (graph || !operation->by_messages) &&
        iso_in_simulator()) {
        return "--op %s: SimGrid has no operations of neighbours; measure it "
               "on a real MPI";
    }
    if (request->in_place && (operation->empty || operation->in_one_buffer ||
                              operation->neighbors)) {
        return "--in-place: MPI has no %s in place; remove it from --op, or "
               "give --op all";
    }
    for (int f = ISO_PUT; f < ISO_FORMS; f++) {
        if (request->forms[f] &&
            (request->in_place || !iso_form_begin(operation, f))) {
            return "--form: %s has no such one-sided form, or not in place; "
                   "remove it from --op, or give --op all";
        }
    }
    bool maximum = strcmp(request->reduction, "max") == 0;
    bool user = strcmp(request->reduction, "user") == 0;
    if (operation->reduces && !user &&
        !(maximum ? element->ordered : element->summed)) {
        return "--type: MPI cannot reduce such elements in %s; give --reduce "
               "user, or another --type";
    }
    return NULL;
}

static void take_all(iso_op_request_t *request)
{
    for (const iso_operation_t *o = iso_operations; o->name; o++) {
        if (!o->by_messages && refusal(request, o) == NULL) {
            request->operations[request->operation_count++] = o;
        }
    }
}

static int take_operation(iso_op_request_t *request, const char *word,
                          size_t length, char *error)
{
    const iso_operation_t *found = iso_operation_find(word, length);
    int shown = (int)(length < SHOWN ? length : SHOWN);
    if (found == NULL || request->operation_count == ISO_MAX_OP_REQUESTS) {
        return ISO_REFUSE(
            error, "--op: there is no operation '%.*s' (--help lists them)",
            shown, word);
    }
    const char *why = refusal(request, found);
    if (why) {
        return ISO_REFUSE(error, why, found->name);
    }
    for (int k = 0; request->grid_count && k < request->operation_count; k++) {
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
    bool all = iso_word_is(word, length, "all"), taken = all;
    for (int f = 0; f < ISO_FORMS; f++) {
        const char *form = iso_form_names[f];
        if ((all && f < ISO_PUT) || iso_word_is(word, length, form)) {
            request->forms[f] = taken = true;
        }
    }
    return taken ? 0
                 : ISO_REFUSE(error,
                              "--form: '%.*s' is not one of blocking, "
                              "nonblocking, persistent, all, put, put_local, "
                              "get, get_local",
                              (int)(length < SHOWN ? length : SHOWN), word);
}

int iso_op_request_parse(const char *operations, const char *grids,
                         const char *forms, iso_op_request_t *request,
                         char *error)
{
    const char *rest, *word;
    size_t length;
    request->operation_count = request->grid_count = 0;
    memset(request->forms, 0, sizeof(request->forms));
    rest = forms;
    while ((word = iso_words_next(&rest, &length))) {
        if (take_form(request, word, length, error)) {
            return -1;
        }
    }
    if (grids && iso_op_request_has_other_forms(request)) {
        return ISO_REFUSE(error, "--grid: algorithms on grids are only "
                                 "blocking; remove --form");
    }
    rest = grids;
    while ((word = iso_words_next(&rest, &length))) {
        if (take_grid(request, word, length, error)) {
            return -1;
        }
    }
    if (strcmp(operations, "all") == 0) {
        take_all(request);
        return 0;
    }
    rest = operations;
    while ((word = iso_words_next(&rest, &length))) {
        if (take_operation(request, word, length, error)) {
            return -1;
        }
    }
    return 0;
}

bool iso_op_request_has_other_forms(const iso_op_request_t *request)
{
    return memchr(request->forms + 1, true, ISO_FORMS - 1) != NULL;
}

const iso_element_t *iso_op_request_element(const iso_op_request_t *request,
                                            const iso_operation_t *operation)
{
    bool bytes = strcmp(request->element, "byte") == 0;
    return iso_element_find(operation->reduces && bytes ? "double"
                                                        : request->element);
}

int iso_op_request_quantum(const iso_op_request_t *request)
{
    size_t largest = 1;
    for (int k = 0; k < request->operation_count; k++) {
        size_t size =
            iso_op_request_element(request, request->operations[k])->size;
        largest = size > largest ? size : largest;
    }
    return (int)largest;
}
