/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file clock_sync.c
 * How well the clocks of the ranks agree, and for how long.
 *
 * The clocks are synchronised (sync.h). Then, every --interval for --seconds,
 * rank 0 lets a random pair of ranks compare what they take for the global
 * clock by exchanges of their own, and has all clocks synchronised again when
 * they have aged:
 *
 *     until --seconds are over:
 *         if the synchronisation has aged: all ranks synchronise again
 *         rank 0 tells i to compare with j, and i calls j out of its nap
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
#include "base/check.h"
#include "experiment.h"
#include "global_clock/sync.h"
#include "machine/idle.h"
#include "runfile/record.h"

#include <math.h>
#include <stdint.h>
#include <time.h>

enum verb { COMPARE, ANSWER, REFRESH, STOP };

enum tag { TAG_COMMAND, TAG_RESULT };

static struct {
    double seconds, interval, skew, offset;
    long seed;
} options;

static const iso_option_t own_options[] = {
    {"seconds", ISO_OPTION_SECONDS, "SECONDS", "10",
     "how long the clocks are watched", &options.seconds},
    {"interval", ISO_OPTION_SECONDS, "SECONDS", "0.05",
     "between comparisons of two ranks", &options.interval},
    {"skew", ISO_OPTION_NUMBER, "PPM", "0",
     "let the clocks run wrong by up to so many microseconds a second",
     &options.skew},
    {"offset", ISO_OPTION_SECONDS, "SECONDS", "0",
     "set the clocks wrong by up to so much", &options.offset},
    {"seed", ISO_OPTION_COUNT, "N", "1", "of the choice of pairs",
     &options.seed},
    {0},
};

static const iso_option_t *const all_options[] = {own_options, iso_sync_options,
                                                  NULL};

static int check(char *error)
{
    if (options.skew >= 1e6) {
        snprintf(error, ISO_ERROR_LENGTH,
                 "--skew must be below 1e6: a clock cannot run backwards");
        return -1;
    }
    if (fmax(options.seconds, fmax(options.interval, options.offset)) > 1e9) {
        snprintf(error, ISO_ERROR_LENGTH,
                 "--seconds, --interval and --offset must not be above 1e9");
        return -1;
    }
    return iso_sync_check(error);
}

/* --- every rank ---------------------------------------------------------- */

static void command(const iso_context_t *ctx, int rank, enum verb verb,
                    int argument)
{
    int message[2] = {verb, argument};
    MPI_CHECK(MPI_Send(message, 2, MPI_INT, rank, TAG_COMMAND, ctx->control));
}

/** Call the partner and compare with it. */
static void compare(const iso_context_t *ctx, const iso_sync_t *sync,
                    int partner, double found[2])
{
    command(ctx, partner, ANSWER, 0);
    found[0] = iso_sync_ask(sync, partner, &found[1]);
}

/** What every rank but 0 does: nap, do what is asked, nap again. */
static void serve(const iso_context_t *ctx, iso_sync_t *sync)
{
    for (;;) {
        MPI_Status status;
        int asked[2];
        double found[2];
        iso_idle_recv(&ctx->clock, asked, 2, MPI_INT, MPI_ANY_SOURCE,
                      TAG_COMMAND, ctx->control, &status);
        switch ((enum verb)asked[0]) {
        case COMPARE:
            compare(ctx, sync, asked[1], found);
            MPI_CHECK(
                MPI_Send(found, 2, MPI_DOUBLE, 0, TAG_RESULT, ctx->control));
            break;
        case ANSWER:
            iso_sync_answer(sync, status.MPI_SOURCE);
            break;
        case REFRESH:
            iso_sync_refresh(sync);
            break;
        case STOP:
            return;
        }
    }
}

/* --- the conductor, rank 0 ----------------------------------------------- */

/** Whole number below @a limit: G. L. Steele et al., SplitMix, OOPSLA 2014. */
static int random_below(uint64_t *state, int limit)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (int)((z ^ (z >> 31)) % (uint64_t)limit);
}

static void record_clocks(const iso_context_t *ctx, const iso_sync_t *sync)
{
    iso_sync_record(sync, ctx->record);
    iso_sync_record_clocks(sync, ctx->record);
    iso_record_flush(ctx->record);
}

/** Let a pair compare, and write what it found. */
static double conduct_pair(const iso_context_t *ctx, const iso_sync_t *sync,
                           int i, int j, double synchronised)
{
    double found[2];
    double now = iso_now();
    if (i == 0) {
        compare(ctx, sync, j, found);
    } else {
        command(ctx, i, COMPARE, j);
        /* The partner may be this rank, which then has to answer first. */
        if (j == 0) {
            int asked[2];
            iso_idle_recv(&ctx->clock, asked, 2, MPI_INT, i, TAG_COMMAND,
                          ctx->control, MPI_STATUS_IGNORE);
            iso_sync_answer(sync, i);
        }
        iso_idle_recv(&ctx->clock, found, 2, MPI_DOUBLE, i, TAG_RESULT,
                      ctx->control, MPI_STATUS_IGNORE);
    }
    iso_record_begin(ctx->record, "offset");
    iso_record_int(ctx->record, "i", i);
    iso_record_int(ctx->record, "j", j);
    iso_record_double(ctx->record, "at", now - ctx->started);
    iso_record_double(ctx->record, "age", now - synchronised);
    iso_record_double(ctx->record, "seconds", found[0]);
    iso_record_double(ctx->record, "bound", found[1]);
    iso_record_end(ctx->record);
    iso_record_flush(ctx->record);
    return found[0];
}

static void refresh_all(const iso_context_t *ctx, iso_sync_t *sync)
{
    for (int r = 1; r < ctx->size; r++) {
        command(ctx, r, REFRESH, 0);
    }
    iso_sync_refresh(sync);
    record_clocks(ctx, sync);
}

/** How many comparisons there will be is known from how many there were. */
static void say_progress(const iso_context_t *ctx, long done, double spent,
                         double found)
{
    double left = (double)done * (options.seconds - spent) / spent;
    iso_progress(ctx, done, done + (long)fmin(fmax(left, 0), 1e9), found);
}

static void conduct(const iso_context_t *ctx, iso_sync_t *sync)
{
    uint64_t state = (uint64_t)options.seed;
    double start = iso_now(), synchronised = start, now;
    double whole = floor(options.interval);
    struct timespec nap = {(time_t)whole,
                           (long)(1e9 * (options.interval - whole))};
    long done = 0;
    record_clocks(ctx, sync);
    do {
        if (iso_sync_aged(sync)) {
            refresh_all(ctx, sync);
            synchronised = iso_now();
        }
        int i = random_below(&state, ctx->size);
        int j = (i + 1 + random_below(&state, ctx->size - 1)) % ctx->size;
        double found = fabs(conduct_pair(ctx, sync, i, j, synchronised));
        nanosleep(&nap, NULL);
        now = iso_now();
        say_progress(ctx, ++done, now - start, found);
    } while (now - start < options.seconds);
    for (int r = 1; r < ctx->size; r++) {
        command(ctx, r, STOP, 0);
    }
}

/* --- the experiment ------------------------------------------------------ */

static iso_outcome_t run(iso_context_t *ctx)
{
    double sign = ctx->rank % 2 ? -1 : 1;
    double bend = sign * ctx->rank / (ctx->size - 1);
    iso_sync_t *sync = iso_sync_create_bent(ctx, bend * options.offset,
                                            bend * options.skew * 1e-6);
    if (ctx->rank == 0) {
        conduct(ctx, sync);
    } else {
        serve(ctx, sync);
    }
    iso_sync_free(sync);
    return ISO_COMPLETE;
}

const iso_experiment_t iso_experiment_clock_sync = {
    .name = "clock-sync",
    .summary = "how well the clocks of the ranks agree",
    .options = all_options,
    .min_ranks = 2,
    .check = check,
    .run = run,
};
