/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file clock_sync.c
 * How well the clocks of the ranks agree, and for how long.
 *
 * The clocks are synchronised (sync.h). Then, every --interval for --seconds,
 * rank 0 lets a random pair of ranks compare their estimates of the global
 * clock by separate exchanges, and has all clocks synchronised again when they
 * have aged:
 *
 *     until --seconds are over:
 *         if the synchronisation has aged: all ranks synchronise again
 *         rank 0 dispatches i to compare with j, and i wakes j
 *         i sends to rank 0 how far its clock is ahead of j's
 *
 * On one machine all clocks are one. --skew and --offset bend them, so that it
 * is known what must be found: the clock of rank r of N shows at moment t
 *
 *     t + f (offset + skew (t - start of the run)),  f = (-1)^r r / (N - 1)
 *
 * which leaves rank 0, the global clock, as it is.
 */
#define _POSIX_C_SOURCE 200809L
#include "base/random.h"
#include "global_clock/sync.h"
#include "machine/heartbeat.h"
#include "machine/system_clock.h"
#include "sampling/coordinator.h"

/** Task for a sleeping rank, from rank 0 or a partner. */
struct task {
    enum { COMPARE, ANSWER, REFRESH } verb;
    int partner; /* of COMPARE */
};

static struct {
    double seconds, interval, skew, offset;
    long seed;
} options;

static const iso_option_t own_options[] = {
    {"seconds", ISO_OPTION_SECONDS, "TIME", "10s",
     "duration of the measurement", &options.seconds},
    {"interval", ISO_OPTION_SECONDS, "TIME", "50ms",
     "time between two comparisons of clocks", &options.interval},
    {"skew", ISO_OPTION_NUMBER | ISO_EXPERT, "PPM", "0",
     "for tests: let the clocks drift by up to this many parts per million",
     &options.skew},
    {"offset", ISO_OPTION_SECONDS | ISO_EXPERT, "TIME", "0",
     "for tests: set the clocks wrong by up to this much", &options.offset},
    {"seed", ISO_OPTION_COUNT | ISO_EXPERT, "N", "1",
     "seed of the random choice of pairs", &options.seed},
    {0},
};

static const iso_option_t *const all_options[] = {own_options, iso_sync_options,
                                                  NULL};

static int check(char *error)
{
    if (options.skew >= 1e6) {
        return ISO_REFUSE(
            error, "--skew must be below 1e6: a clock cannot run backwards");
    }
    if (fmax(options.seconds, fmax(options.interval, options.offset)) > 1e9) {
        return ISO_REFUSE(
            error, "--seconds, --interval and --offset must not be above 1e9");
    }
    return iso_sync_check(error);
}

/* --- every rank ---------------------------------------------------------- */

/** State of a rank. */
struct member {
    const iso_context_t *ctx;
    iso_sync_t *sync;
    iso_coordinator_t coordinator;
};

static void dispatch(const struct member *m, int rank, struct task task)
{
    iso_coordinator_dispatch(&m->coordinator, rank, &task);
}

/** Call the partner and compare with it. */
static void compare(const struct member *m, int partner, double found[2])
{
    if (partner != 0) { /* rank 0 knows, and waits already */
        dispatch(m, partner, (struct task){ANSWER, 0});
    }
    found[0] = iso_sync_ask(m->sync, partner, &found[1]);
}

static void perform(void *self, const void *message, int from)
{
    struct member *m = self;
    const struct task *task = message;
    double found[2];
    switch (task->verb) {
    case COMPARE:
        compare(m, task->partner, found);
        iso_coordinator_report(m->ctx, found, 2);
        break;
    case ANSWER:
        iso_sync_answer(m->sync, from);
        break;
    case REFRESH:
        iso_sync_refresh(m->sync);
        break;
    }
}

/* --- rank 0 -------------------------------------------------------------- */

static void record_clocks(const struct member *m)
{
    iso_sync_record(m->sync, m->ctx->record);
    iso_sync_record_clocks(m->sync, m->ctx->record);
    iso_record_flush(m->ctx->record);
}

/** Compare a pair, and record the result. */
static double conduct_pair(const struct member *m, int i, int j,
                           double synchronised)
{
    const iso_context_t *ctx = m->ctx;
    double found[2];
    double now = iso_now();
    if (i == 0) {
        compare(m, j, found);
    } else {
        dispatch(m, i, (struct task){COMPARE, j});
        if (j == 0) {
            iso_sync_answer(m->sync, i);
        }
        iso_coordinator_collect(ctx, i, found, 2);
    }
    iso_heartbeat_clear();
    ISO_RECORD(ctx->record, "offset", ("i", i), ("j", j),
               ("at", now - ctx->started), ("age", now - synchronised),
               ("seconds", found[0]), ("bound", found[1]));
    iso_record_flush(ctx->record);
    return found[0];
}

static void refresh_all(const struct member *m)
{
    for (int r = 1; r < m->ctx->size; r++) {
        dispatch(m, r, (struct task){REFRESH, 0});
    }
    iso_sync_refresh(m->sync);
    record_clocks(m);
}

/** Sleep, and signal to the watchdog that this is intended. */
static void pause_for(double seconds)
{
    for (double left = seconds; left > 0; left -= 1) {
        iso_sleep(fmin(left, 1));
        iso_heartbeat_beat();
    }
}

static void conduct(const struct member *m)
{
    int size = m->ctx->size;
    uint64_t state = options.seed;
    double start = iso_now(), synchronised = start, now;
    long done = 0;
    record_clocks(m);
    do {
        if (iso_sync_aged(m->sync)) {
            refresh_all(m);
            synchronised = iso_now();
        }
        int i = iso_random_below(&state, size);
        int j = (i + 1 + iso_random_below(&state, size - 1)) % size;
        double found = fabs(conduct_pair(m, i, j, synchronised));
        pause_for(options.interval);
        now = iso_now();
        double spent = now - start;
        double left = ++done * (options.seconds - spent) / spent;
        iso_progress(m->ctx, done, done + (long)fmin(fmax(left, 0), 1e9),
                     found);
    } while (now - start < options.seconds);
    iso_coordinator_dismiss(&m->coordinator);
}

/* --- the experiment ------------------------------------------------------ */

static iso_outcome_t run(iso_context_t *ctx)
{
    double sign = ctx->rank % 2 ? -1 : 1;
    double bend = sign * ctx->rank / (ctx->size - 1);
    struct member member = {.ctx = ctx};
    member.coordinator = (iso_coordinator_t){.ctx = ctx,
                                             .task_size = sizeof(struct task),
                                             .self = &member,
                                             .perform = perform};
    member.sync = iso_sync_create_bent(ctx, bend * options.offset,
                                       bend * options.skew * 1e-6);
    if (ctx->rank == 0) {
        conduct(&member);
    } else {
        iso_coordinator_serve(&member.coordinator);
    }
    iso_sync_free(member.sync);
    return ISO_COMPLETE;
}

const iso_experiment_t iso_experiment_clock_sync = {
    .name = "clock-sync",
    .summary = "how well the clocks of the ranks agree",
    .kind = "clocks",
    .options = all_options,
    .min_ranks = 2,
    .check = check,
    .run = run,
};
