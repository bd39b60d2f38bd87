/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/app/tally.h"

#include "base/check.h"

#include <stdint.h>

enum { MESSAGE, FARM, COLLECTIVE };

static void add(iso_tally_t *tally, iso_tally_entry_t entry)
{
    if (tally->count == tally->room) {
        tally->room = tally->room ? 2 * tally->room : 1024;
        tally->items =
            realloc(tally->items, tally->room * sizeof(*tally->items));
        if (tally->items == NULL) {
            ISO_FAIL("no memory to check %zu steps", tally->room);
        }
    }
    tally->items[tally->count++] = entry;
}

/** Which collective of the phase: its operation, root and ranks in one number;
 *  two that differ but share it are not told apart. */
static int identity(const iso_step_t *step)
{
    uint64_t z = iso_draw_mix((uint64_t)(step->operation - iso_operations));
    z = iso_draw_mix(z ^ (uint64_t)step->peer);
    z = iso_draw_mix(z ^ (uint64_t)step->size);
    z = iso_draw_mix(z ^ (step->on_grid ? (uint64_t)step->grid.kind + 1 : 0));
    for (int k = 0; k < step->count; k++) {
        z = iso_draw_mix(z ^ (uint64_t)step->list[k]);
    }
    return (int)(z >> 33);
}

void iso_tally_add(iso_tally_t *tally, const iso_program_t *program, int app,
                   int rank, const iso_step_t *step, long line)
{
    iso_tally_entry_t e = {.app = app, .phase = step->phase, .line = line};
    iso_tally_entry_t out = e, in = e, farm = e;
    out.from = in.to = rank;
    out.to = in.from = step->peer;
    out.count = 1;
    in.count = -1;
    farm.kind = FARM;
    switch (step->kind) {
    case ISO_STEP_SEND:
    case ISO_STEP_ISEND:
        add(tally, out);
        break;
    case ISO_STEP_RECV:
    case ISO_STEP_IRECV:
        add(tally, in);
        break;
    case ISO_STEP_SERVE:
        for (int k = 0; k < step->count; k++) {
            out.to = in.from = step->list[k];
            add(tally, in);
            add(tally, out);
        }
        break;
    case ISO_STEP_FARM:
        for (int k = 0; k < step->count; k++) {
            farm.from = rank;
            farm.to = step->list[k];
            farm.count = 1;
            add(tally, farm);
        }
        break;
    case ISO_STEP_WORK:
        farm.from = step->peer;
        farm.to = rank;
        farm.count = -1;
        add(tally, farm);
        break;
    case ISO_STEP_COLLECTIVE:
        e.kind = COLLECTIVE;
        e.from = identity(step);
        e.to = rank;
        e.count = step->count ? step->count : program->apps[app].ranks;
        add(tally, e);
        break;
    case ISO_STEP_COMPUTE:
    case ISO_STEP_WAIT:
        break;
    }
}

static int by_what(const iso_tally_entry_t *a, const iso_tally_entry_t *b)
{
    const int x[] = {a->app, a->phase, a->kind, a->from};
    const int y[] = {b->app, b->phase, b->kind, b->from};
    for (int k = 0; k < 4; k++) {
        if (x[k] != y[k]) {
            return x[k] < y[k] ? -1 : 1;
        }
    }
    return 0;
}

static int by_all(const void *a, const void *b)
{
    const iso_tally_entry_t *x = a, *y = b;
    int order = by_what(x, y);
    return order ? order : (x->to > y->to) - (x->to < y->to);
}

static bool same(const iso_tally_entry_t *a, const iso_tally_entry_t *b)
{
    return by_all(a, b) == 0;
}

/** The end of the entries that are about the same as the one at @a begin. */
static size_t run_end(const iso_tally_t *tally, size_t begin)
{
    size_t end = begin;
    while (end < tally->count &&
           same(&tally->items[begin], &tally->items[end])) {
        end++;
    }
    return end;
}

static int check_ends(const iso_tally_t *tally, size_t begin, size_t end,
                      iso_words_t *words)
{
    const iso_tally_entry_t *e = &tally->items[begin];
    long surplus = 0;
    for (size_t k = begin; k < end; k++) {
        surplus += tally->items[k].count;
    }
    if (surplus == 0) {
        return 0;
    }
    words->line = e->line;
    return e->kind == FARM
               ? iso_words_fail(words,
                                "rank %d leads and rank %d works for it, but "
                                "not equally often in phase %d",
                                e->from, e->to, e->phase)
               : iso_words_fail(words,
                                "rank %d sends %s messages to rank %d than "
                                "that receives in phase %d",
                                e->from, surplus > 0 ? "more" : "fewer", e->to,
                                e->phase);
}

/** All ranks of a collective take part in it equally often. */
static int check_collective(const iso_tally_t *tally, size_t begin,
                            iso_words_t *words, size_t *end)
{
    const iso_tally_entry_t *e = &tally->items[begin];
    size_t often = run_end(tally, begin) - begin;
    int ranks = 0;
    for (*end = begin; *end < tally->count && !by_what(e, &tally->items[*end]);
         ranks++) {
        size_t next = run_end(tally, *end);
        if (next - *end != often || tally->items[*end].count != e->count) {
            break;
        }
        *end = next;
    }
    bool more = *end < tally->count && by_what(e, &tally->items[*end]) == 0;
    if (ranks == e->count && !more) {
        return 0;
    }
    words->line = e->line;
    return iso_words_fail(words,
                          "not all of its %d ranks do this collective of phase "
                          "%d equally often",
                          e->count, e->phase);
}

int iso_tally_check(iso_tally_t *tally, const iso_program_t *program,
                    const char *file, char *error)
{
    iso_words_t words = {.file = file, .error = error};
    (void)program;
    if (tally->count > 0) {
        qsort(tally->items, tally->count, sizeof(*tally->items), by_all);
    }
    for (size_t begin = 0, end; begin < tally->count; begin = end) {
        bool collective = tally->items[begin].kind == COLLECTIVE;
        end = run_end(tally, begin);
        if (collective ? check_collective(tally, begin, &words, &end)
                       : check_ends(tally, begin, end, &words)) {
            return -1;
        }
    }
    return 0;
}

int iso_tally_check_nodes(const iso_tally_t *tally,
                          const iso_program_t *program, int *const *nodes,
                          const char *file, char *error)
{
    for (size_t k = 0; k < tally->count; k++) {
        const iso_tally_entry_t *e = &tally->items[k];
        const iso_app_t *app = &program->apps[e->app];
        const iso_app_phase_t *phase = &app->phases[e->phase];
        iso_words_t words = {.file = file, .line = e->line, .error = error};
        if (e->kind != COLLECTIVE &&
            phase->method == ISO_METHOD_SHARED_MEMORY &&
            nodes[e->app][e->from] != nodes[e->app][e->to]) {
            return iso_words_fail(&words,
                                  "%.40s %.40s: shared memory, but its ranks "
                                  "%d and %d are on two nodes",
                                  app->name, phase->name, e->from, e->to);
        }
    }
    return 0;
}
