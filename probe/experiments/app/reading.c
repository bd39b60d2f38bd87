/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L
#include "experiments/app/reading.h"

#include "base/check.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>

enum {
    MAX_NAME = 100,
    MAX_PATH = 4096,
    MAX_RANKS = 1 << 20,
    MAX_ITERATIONS = 1000000000,
    MAX_PHASES = 8192,
    MAX_REPEAT = 1 << 30,
    MAX_VALUES = 1 << 20,
};

static const double MAX_VALUE = 1e15;

const char *const iso_method_names[] = {"message", "shared-memory",
                                        "posix-file", "mpi-file", NULL};
static const char *const placements[] = {"disjoint", "shared-nodes",
                                         "shared-cores", NULL};

/** A list with room for one more, which is zeroed. */
static void *lengthen(void *items, int count, size_t size)
{
    if ((count & (count - 1)) == 0) { /* a power of two, or none */
        items = realloc(items, (count ? 2 * (size_t)count : 1) * size);
        if (items == NULL) {
            ISO_FAIL("no memory for %d times %zu bytes", count, size);
        }
    }
    memset((char *)items + (size_t)count * size, 0, size);
    return items;
}

/** Indices count from 0 in the order of the lines. */
static int take_index(iso_reading_t *r, const char *what, int expected)
{
    int index = 0;
    if (iso_words_int(&r->words, what, 0, INT_MAX, &index)) {
        return -1;
    }
    return index == expected
               ? 0
               : iso_words_fail(&r->words, "%s is %d, not %d: they count up",
                                what, index, expected);
}

static int take_keyword(iso_reading_t *r, const char *keyword)
{
    const char *word;
    size_t length = iso_words_take(&r->words, &word);
    return iso_words_same(word, length, keyword)
               ? 0
               : iso_words_fail(&r->words, "'%s' is missing", keyword);
}

int iso_read_seed(iso_reading_t *r)
{
    const char *word;
    char text[24] = "", *end = text;
    size_t length = iso_words_take(&r->words, &word);
    if (length < sizeof(text)) {
        memcpy(text, word, length);
        errno = 0;
        r->program->seed = strtoull(text + (*text == '-'), &end, 10);
    }
    if (length == 0 || length >= sizeof(text) || *end || errno ||
        text[strcspn(text, "0123456789")] == '\0' ||
        strspn(text, "-0123456789") != length) {
        return iso_words_fail(&r->words, "the seed is no 64-bit number");
    }
    if (*text == '-') { /* its lowest 64 bits count */
        r->program->seed = 0 - r->program->seed;
    }
    return 0;
}

int iso_read_placement(iso_reading_t *r)
{
    int found = 0;
    if (iso_words_choice(&r->words, "placement", placements, &found)) {
        return -1;
    }
    r->program->placement = (iso_placement_t)found;
    return 0;
}

int iso_read_values(iso_reading_t *r)
{
    iso_program_t *p = r->program;
    long count = 0;
    size_t left;
    if (take_index(r, "the index of the values", p->value_count) ||
        iso_words_count(&r->words, "their number", 1, MAX_VALUES, &count)) {
        return -1;
    }
    left = (size_t)(r->words.end - r->words.at);
    if ((size_t)count > left / 2) { /* a blank and a digit each */
        return iso_words_fail(&r->words, "there are not %ld values here",
                              count);
    }
    p->values = lengthen(p->values, p->value_count, sizeof(*p->values));
    iso_values_t *values = &p->values[p->value_count++];
    values->items = iso_calloc((size_t)count, sizeof(double));
    for (; values->count < count; values->count++) {
        double *value = &values->items[values->count];
        if (iso_words_number(&r->words, "a value", MAX_VALUE, value)) {
            return -1;
        }
        values->most = fmax(values->most, *value);
    }
    return 0;
}

int iso_read_app(iso_reading_t *r)
{
    iso_program_t *p = r->program;
    long background = 0;
    if (take_index(r, "the index of the application", p->app_count)) {
        return -1;
    }
    p->apps = lengthen(p->apps, p->app_count, sizeof(*p->apps));
    iso_app_t *app = &p->apps[p->app_count++];
    if (iso_words_copy(&r->words, "the name", MAX_NAME, &app->name) ||
        take_keyword(r, "ranks") ||
        iso_words_int(&r->words, "the number of ranks", 1, MAX_RANKS - p->ranks,
                      &app->ranks) ||
        take_keyword(r, "iterations") ||
        iso_words_count(&r->words, "the number of iterations", 1,
                        MAX_ITERATIONS, &app->iterations) ||
        take_keyword(r, "background") ||
        iso_words_count(&r->words, "background", 0, 1, &background)) {
        return -1;
    }
    for (int k = 0; k < p->app_count - 1; k++) {
        if (strcmp(p->apps[k].name, app->name) == 0) {
            return iso_words_fail(
                &r->words, "there is an application %.40s already", app->name);
        }
    }
    app->background = background == 1;
    app->sections = iso_calloc((size_t)app->ranks, sizeof(iso_section_t));
    p->ranks += app->ranks;
    return 0;
}

int iso_read_app_index(iso_reading_t *r, int *app)
{
    return iso_words_int(&r->words, "the application", 0,
                         r->program->app_count - 1, app);
}

int iso_read_on(iso_reading_t *r)
{
    int index = 0;
    if (iso_read_app_index(r, &index)) {
        return -1;
    }
    iso_app_t *app = &r->program->apps[index];
    while (!iso_words_over(&r->words)) {
        if (app->on_count == app->ranks) {
            return iso_words_fail(&r->words, "more ranks than the %d of %.40s",
                                  app->ranks, app->name);
        }
        app->on = lengthen(app->on, app->on_count, sizeof(int));
        int *rank = &app->on[app->on_count++];
        if (iso_words_int(&r->words, "a rank", 0, MAX_RANKS, rank)) {
            return -1;
        }
    }
    return app->on_count == app->ranks
               ? 0
               : iso_words_fail(&r->words, "%d ranks, but %.40s has %d",
                                app->on_count, app->name, app->ranks);
}

/** Applications would write over each other's data. */
static int check_path(iso_reading_t *r, const iso_app_t *own, const char *path)
{
    for (int k = 0; k < r->program->app_count; k++) {
        const iso_app_t *app = &r->program->apps[k];
        for (int j = 0; app != own && j < app->phase_count; j++) {
            if (app->phases[j].path && strcmp(app->phases[j].path, path) == 0) {
                return iso_words_fail(
                    &r->words, "the file is that of %.40s, too", app->name);
            }
        }
    }
    return 0;
}

static int read_path(iso_reading_t *r, const iso_app_t *app,
                     iso_app_phase_t *phase)
{
    if (phase->method != ISO_METHOD_POSIX_FILE &&
        phase->method != ISO_METHOD_MPI_FILE) {
        return 0;
    }
    if (iso_words_over(&r->words)) {
        return iso_words_fail(&r->words, "a %s without its path",
                              iso_method_names[phase->method]);
    }
    size_t length = (size_t)(r->words.end - r->words.at);
    if (length >= MAX_PATH) {
        return iso_words_fail(&r->words, "a path of %zu characters", length);
    }
    phase->path = iso_calloc(length + 1, 1);
    memcpy(phase->path, r->words.at, length);
    r->words.at = r->words.end;
    return check_path(r, app, phase->path);
}

int iso_read_phase(iso_reading_t *r)
{
    int index = 0, method = 0;
    if (iso_read_app_index(r, &index)) {
        return -1;
    }
    iso_app_t *app = &r->program->apps[index];
    if (app->phase_count == MAX_PHASES) {
        return iso_words_fail(&r->words, "more than %d phases", MAX_PHASES);
    }
    if (take_index(r, "the index of the phase", app->phase_count)) {
        return -1;
    }
    app->phases = lengthen(app->phases, app->phase_count, sizeof(*app->phases));
    iso_app_phase_t *phase = &app->phases[app->phase_count++];
    if (iso_words_copy(&r->words, "the name", MAX_NAME, &phase->name) ||
        iso_words_choice(&r->words, "method", iso_method_names, &method)) {
        return -1;
    }
    phase->method = (iso_method_t)method;
    return read_path(r, app, phase);
}

int iso_read_run(iso_reading_t *r)
{
    iso_program_t *p = r->program;
    p->launches = lengthen(p->launches, p->launch_count, sizeof(*p->launches));
    iso_launch_t *launch = &p->launches[p->launch_count++];
    if (iso_words_count(&r->words, "the repetition", 0, MAX_REPEAT,
                        &launch->repeat)) {
        return -1;
    }
    while (!iso_words_over(&r->words)) {
        int app = 0;
        if (iso_read_app_index(r, &app)) {
            return -1;
        }
        if (launch->count && launch->together[launch->count - 1] >= app) {
            return iso_words_fail(&r->words, "applications do not ascend");
        }
        launch->together =
            lengthen(launch->together, launch->count, sizeof(int));
        launch->together[launch->count++] = app;
    }
    return launch->count > 0
               ? 0
               : iso_words_fail(&r->words, "a run of no application");
}
