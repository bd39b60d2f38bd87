/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/app/step.h"

#include "base/check.h"
#include "base/options.h"
#include "collectives/on_grid.h"
#include "experiments/app/program.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum { MAX_TASKS = 1 << 19, DOUBLE = sizeof(double) };

static const double MAX_FACTOR = 1e9, MAX_BLOCK = 1 << 30, MAX_TIME = 1e8;

const char *const iso_mode_names[] = {"cpu", "spin", "sleep", NULL};

static const char *const kinds[] = {"compute", "send",       "isend", "recv",
                                    "irecv",   "wait",       "serve", "farm",
                                    "work",    "collective", NULL};

const char *iso_step_name(const iso_step_t *step)
{
    switch (step->kind) {
    case ISO_STEP_ISEND:
        return "send";
    case ISO_STEP_IRECV:
        return "recv";
    case ISO_STEP_COLLECTIVE:
        return step->operation->name;
    default:
        return kinds[step->kind];
    }
}

/** What a line is about, while it is read. */
struct line {
    iso_words_t *words;
    const iso_program_t *program;
    const iso_app_t *app;
    int rank;
};

static int take_time(const struct line *line, int *values)
{
    return iso_words_int(line->words, "the list of times", 0,
                         line->program->value_count - 1, values);
}

static int take_size(const struct line *line, double most, int *values)
{
    if (iso_words_int(line->words, "the list of sizes", 0,
                      line->program->value_count - 1, values)) {
        return -1;
    }
    if (line->program->values[*values].most > most) {
        return iso_words_fail(line->words,
                              "list %d holds %.0f bytes, more than %.0f: one "
                              "message is below 2 GiB, one block at most 1 GiB",
                              *values, line->program->values[*values].most,
                              most);
    }
    return 0;
}

static int take_peer(const struct line *line, const char *what, int *peer)
{
    if (iso_words_int(line->words, what, 0, line->app->ranks - 1, peer)) {
        return -1;
    }
    return *peer == line->rank
               ? iso_words_fail(line->words, "%s is rank %d itself", what,
                                line->rank)
               : 0;
}

static int take_mode(const struct line *line, iso_mode_t *mode)
{
    int found = 0;
    if (iso_words_choice(line->words, "mode", iso_mode_names, &found)) {
        return -1;
    }
    *mode = (iso_mode_t)found;
    return 0;
}

static int take_factor(const struct line *line, double *factor)
{
    return iso_words_number(line->words, "the factor", MAX_FACTOR, factor);
}

static int ascending(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static int check_distinct(const struct line *line, const iso_step_t *step,
                          const char *what)
{
    if (step->count == 0) {
        return 0;
    }
    int *sorted = iso_calloc((size_t)step->count, sizeof(int)), twice = -1;
    memcpy(sorted, step->list, (size_t)step->count * sizeof(int));
    qsort(sorted, (size_t)step->count, sizeof(int), ascending);
    for (int k = 1; k < step->count; k++) {
        twice = sorted[k] == sorted[k - 1] ? sorted[k] : twice;
    }
    free(sorted);
    return twice < 0 ? 0
                     : iso_words_fail(line->words, "%s %d is named twice", what,
                                      twice);
}

/** Take all ranks up to the end of the line. */
static int take_list(const struct line *line, const char *what,
                     iso_step_t *step)
{
    int room = 0;
    while (!iso_words_over(line->words)) {
        if (step->count == room) {
            room = room ? 2 * room : 8;
            int *more = realloc(step->list, (size_t)room * sizeof(int));
            if (more == NULL) {
                return iso_words_fail(line->words, "no memory for its ranks");
            }
            step->list = more;
        }
        if (step->count == line->app->ranks) {
            return iso_words_fail(line->words, "more than %d ranks",
                                  line->app->ranks);
        }
        if (iso_words_int(line->words, what, 0, line->app->ranks - 1,
                          &step->list[step->count])) {
            return -1;
        }
        step->count++;
    }
    return check_distinct(line, step, what);
}

static bool lists(const iso_step_t *step, int rank)
{
    for (int k = 0; k < step->count; k++) {
        if (step->list[k] == rank) {
            return true;
        }
    }
    return false;
}

/** The others of a serve or a farm. */
static int take_others(const struct line *line, const char *what,
                       iso_step_t *step)
{
    if (take_list(line, what, step)) {
        return -1;
    }
    if (step->count == 0) {
        return iso_words_fail(line->words, "there is no %s", what);
    }
    return lists(step, line->rank)
               ? iso_words_fail(line->words, "%s is rank %d itself", what,
                                line->rank)
               : 0;
}

static int take_grid(const struct line *line, iso_step_t *step)
{
    char why[ISO_ERROR_LENGTH];
    const char *word;
    size_t length = iso_words_take(line->words, &word);
    if (iso_words_same(word, length, "-")) {
        return 0;
    }
    step->on_grid = true;
    if (iso_grid_parse(word, length, &step->grid, why)) {
        return iso_words_fail(line->words, "%.120s", why);
    }
    if (iso_on_grid(step->operation) == NULL) {
        return iso_words_fail(line->words, "%s has no realisation on a grid",
                              step->operation->name);
    }
    return 0;
}

static int parse_collective(const struct line *line, iso_step_t *step)
{
    const char *word;
    char why[ISO_ERROR_LENGTH];
    size_t length = iso_words_take(line->words, &word);
    step->operation = length ? iso_operation_find(word, length) : NULL;
    if (step->operation == NULL) {
        return iso_words_fail(line->words, "there is no operation '%.*s'",
                              (int)(length < 40 ? length : 40), word);
    }
    if (take_size(line, MAX_BLOCK, &step->size) ||
        iso_words_int(line->words, "the root", 0, line->app->ranks - 1,
                      &step->peer) ||
        take_grid(line, step) || take_list(line, "rank", step)) {
        return -1;
    }
    if (step->count && !lists(step, line->rank)) {
        return iso_words_fail(line->words, "rank %d is not among its ranks",
                              line->rank);
    }
    if (step->count && !lists(step, step->peer)) {
        return iso_words_fail(line->words, "its root %d is not among its ranks",
                              step->peer);
    }
    int ranks = step->count ? step->count : line->app->ranks;
    if (step->on_grid && iso_grid_check(&step->grid, ranks, why)) {
        return iso_words_fail(line->words, "%.120s", why);
    }
    return 0;
}

static int parse_serve(const struct line *line, iso_step_t *step)
{
    return take_size(line, INT_MAX, &step->size) ||
                   take_size(line, INT_MAX, &step->answer) ||
                   take_time(line, &step->time) ||
                   take_mode(line, &step->mode) ||
                   take_others(line, "client", step)
               ? -1
               : 0;
}

static int parse_farm(const struct line *line, iso_step_t *step)
{
    return iso_words_count(line->words, "the number of tasks", 0, MAX_TASKS,
                           &step->tasks) ||
                   take_size(line, INT_MAX, &step->size) ||
                   take_size(line, INT_MAX, &step->answer) ||
                   take_others(line, "worker", step)
               ? -1
               : 0;
}

static int parse_work(const struct line *line, iso_step_t *step)
{
    return take_peer(line, "the master", &step->peer) ||
                   take_size(line, INT_MAX, &step->size) ||
                   take_size(line, INT_MAX, &step->answer) ||
                   take_time(line, &step->time) ||
                   take_factor(line, &step->factor) ||
                   take_mode(line, &step->mode)
               ? -1
               : 0;
}

static int parse_rest(const struct line *line, iso_step_t *step)
{
    switch (step->kind) {
    case ISO_STEP_COMPUTE:
        return take_time(line, &step->time) ||
                       take_factor(line, &step->factor) ||
                       take_mode(line, &step->mode)
                   ? -1
                   : 0;
    case ISO_STEP_SEND:
    case ISO_STEP_ISEND:
        return take_peer(line, "the receiver", &step->peer) ||
                       take_size(line, INT_MAX, &step->size)
                   ? -1
                   : 0;
    case ISO_STEP_RECV:
    case ISO_STEP_IRECV:
        return take_peer(line, "the sender", &step->peer) ||
                       take_size(line, INT_MAX, &step->size)
                   ? -1
                   : 0;
    case ISO_STEP_SERVE:
        return parse_serve(line, step);
    case ISO_STEP_FARM:
        return parse_farm(line, step);
    case ISO_STEP_WORK:
        return parse_work(line, step);
    case ISO_STEP_COLLECTIVE:
        return parse_collective(line, step);
    case ISO_STEP_WAIT:
        break;
    }
    return 0;
}

static bool computes(const iso_step_t *step)
{
    return step->kind == ISO_STEP_COMPUTE || step->kind == ISO_STEP_SERVE ||
           step->kind == ISO_STEP_WORK;
}

int iso_step_parse(iso_words_t *words, const iso_program_t *program,
                   const iso_app_t *app, int rank, iso_step_t *step)
{
    struct line line = {words, program, app, rank};
    int kind = 0;
    *step = (iso_step_t){.factor = 1};
    if (iso_words_choice(words, "step", kinds, &kind)) {
        return -1;
    }
    step->kind = (iso_step_kind_t)kind;
    if (iso_words_int(words, "the phase", 0, app->phase_count - 1,
                      &step->phase) ||
        parse_rest(&line, step)) {
        return -1;
    }
    if (step->time < program->value_count &&
        program->values[step->time].most * step->factor > MAX_TIME &&
        computes(step)) {
        return iso_words_fail(words, "a computation of more than %g s",
                              MAX_TIME);
    }
    return iso_words_close(words);
}

static void add_collective(iso_needs_t *needs, const iso_app_t *app,
                           const iso_step_t *step, double bytes)
{
    const iso_operation_t *o = step->operation;
    double ranks = step->count ? step->count : app->ranks;
    bytes += o->reduces ? DOUBLE : 0; /* sizes are rounded up to doubles */
    needs->send = fmax(needs->send, o->sends_all ? bytes * ranks : bytes);
    needs->receive =
        fmax(needs->receive, o->receives_all ? bytes * ranks : bytes);
}

void iso_needs_add(iso_needs_t *needs, const iso_program_t *program,
                   const iso_app_t *app, const iso_step_t *step)
{
    bool any = program->value_count > 0; /* a wait needs none */
    double size = any ? program->values[step->size].most : 0;
    double answer = any ? program->values[step->answer].most : 0;
    switch (step->kind) {
    case ISO_STEP_SEND:
    case ISO_STEP_ISEND:
        needs->send = fmax(needs->send, size);
        break;
    case ISO_STEP_RECV:
        needs->receive = fmax(needs->receive, size);
        break;
    case ISO_STEP_IRECV:
        needs->arriving += size;
        needs->pending = fmax(needs->pending, needs->arriving);
        break;
    case ISO_STEP_WAIT:
        needs->arriving = 0;
        break;
    case ISO_STEP_FARM:
        needs->send = fmax(needs->send, size);
        needs->receive = fmax(needs->receive, answer);
        break;
    case ISO_STEP_SERVE:
    case ISO_STEP_WORK:
        needs->receive = fmax(needs->receive, size);
        needs->send = fmax(needs->send, answer);
        break;
    case ISO_STEP_COLLECTIVE:
        add_collective(needs, app, step, size);
        break;
    case ISO_STEP_COMPUTE:
        break;
    }
}
