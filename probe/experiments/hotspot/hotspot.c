/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file hotspot.c
 * What it costs a node to be the hot spot of a communication: cFireworks
 * (K. Cha, "cFireworks: a Tool for Measuring the Communication Costs in
 * Collective I/O"), with points beyond the paper's.
 *
 * Hot processes of one node exchange messages with a growing number of
 * partners inside their node and on other nodes (star.h): a double loop over
 * both. Rank 0 conducts: pass after pass it visits all points, tells those who
 * take part in one to measure it, and takes the maximum of their times. All
 * others nap.
 */
#include "base/check.h"
#include "experiment.h"
#include "experiments/hotspot/star_record.h"
#include "machine/idle.h"
#include "runfile/record.h"
#include "sampling/sampler.h"

#include <string.h>

enum verb { MEASURE, STOP };

enum tag { TAG_COMMAND, TAG_RESULT };

enum { MAX_POINTS = 1 << 18 };

static struct {
    iso_sizes_t sizes;
    long hot, max_intra, max_inter;
    const char *post, *balance;
    double time_limit;
} options;

static const iso_option_t own_options[] = {
    {"bytes", ISO_OPTION_SIZES, "SIZE,...", "4MiB", "message sizes",
     &options.sizes},
    {"hot", ISO_OPTION_COUNT, "H", "1",
     "hot processes on the node, each with partners of its own", &options.hot},
    {"post", ISO_OPTION_CHOICE, "intra-first|inter-first|both", "intra-first",
     "which partners' receives and sends are posted first", &options.post},
    {"balance", ISO_OPTION_CHOICE, "equal|free", "equal",
     "equal: as many messages come from other nodes as go there; free: also "
     "points where the two differ",
     &options.balance},
    {"max-intra", ISO_OPTION_COUNT, "N", "7",
     "most partners of a hot process inside its node", &options.max_intra},
    {"max-inter", ISO_OPTION_COUNT, "N", "7",
     "most partners of a hot process on other nodes", &options.max_inter},
    {"time-limit", ISO_OPTION_SECONDS, "SECONDS", "0",
     "stop after this time and keep what was measured; 0: no limit",
     &options.time_limit},
    {0},
};

static const iso_option_t *const all_options[] = {own_options,
                                                  iso_sampler_options, NULL};

static int check(char *error)
{
    long inter = options.max_inter + 1;
    bool free_too = strcmp(options.balance, "free") == 0;
    double points = (double)(options.max_intra + 1) * (double)inter *
                    (double)(free_too ? inter : 1) * options.sizes.count;
    const char *wrong = NULL;
    if (options.hot < 1) {
        wrong = "--hot must be at least 1";
    } else if (points > MAX_POINTS) {
        wrong = "these are too many points: take smaller --max-intra and "
                "--max-inter";
    } else if (options.max_intra + options.max_inter == 0) {
        wrong = "--max-intra and --max-inter are both 0: nobody exchanges";
    }
    if (wrong) {
        snprintf(error, ISO_ERROR_LENGTH, "%s", wrong);
        return -1;
    }
    return iso_sampler_check(error);
}

/* --- every rank ---------------------------------------------------------- */

struct command {
    int verb, samples, batch;
    iso_star_point_t point;
};

enum { COMMAND_INTS = sizeof(struct command) / sizeof(int) };

/** What every rank but 0 does: nap, measure a point it is called to, nap. */
static void serve(iso_star_t *star)
{
    const iso_context_t *ctx = star->ctx;
    for (;;) {
        struct command asked;
        iso_idle_recv(&ctx->clock, &asked, COMMAND_INTS, MPI_INT, 0,
                      TAG_COMMAND, ctx->control, MPI_STATUS_IGNORE);
        if (asked.verb == STOP) {
            return;
        }
        double *seconds = iso_calloc((size_t)asked.samples, sizeof(double));
        iso_star_measure(star, &asked.point, asked.samples, asked.batch,
                         seconds);
        MPI_CHECK(MPI_Send(seconds, asked.samples, MPI_DOUBLE, 0, TAG_RESULT,
                           ctx->control));
        free(seconds);
    }
}

/* --- the conductor, rank 0 ----------------------------------------------- */

/** A point, and what is known of it. */
struct state {
    iso_star_point_t point;
    iso_sampler_t sampler;
    int batch;
};

struct conductor {
    iso_star_t *star;
    const iso_context_t *ctx;
    struct state *states;
    long count, room;
    long unreachable;
    double latest; /**< last time measured, to show progress */
};

/** Let those who take part measure. @param slowest  maximum over them */
static void conduct_point(struct conductor *c, const struct command *command,
                          double *slowest)
{
    const iso_context_t *ctx = c->ctx;
    int samples = command->samples, mine = 0;
    int count = iso_star_team(c->star, &command->point);
    double *seconds = iso_calloc((size_t)samples, sizeof(double));
    for (int k = 0; k < count; k++) {
        if (c->star->team[k] == 0) {
            mine = 1;
        } else {
            MPI_CHECK(MPI_Send(command, COMMAND_INTS, MPI_INT, c->star->team[k],
                               TAG_COMMAND, ctx->control));
        }
    }
    memset(slowest, 0, (size_t)samples * sizeof(double));
    if (mine) {
        iso_star_measure(c->star, &command->point, samples, command->batch,
                         slowest);
    }
    for (int k = 0; k < count; k++) {
        if (c->star->team[k] == 0) {
            continue;
        }
        iso_idle_recv(&ctx->clock, seconds, samples, MPI_DOUBLE,
                      c->star->team[k], TAG_RESULT, ctx->control,
                      MPI_STATUS_IGNORE);
        for (int s = 0; s < samples; s++) {
            slowest[s] = seconds[s] > slowest[s] ? seconds[s] : slowest[s];
        }
    }
    free(seconds);
}

/** Untimed exchanges, and how many of them fill a sample. */
static void warm_up(struct conductor *c, struct state *s)
{
    double seconds;
    struct command command = {MEASURE, 1, iso_sampler_warmup(), s->point};
    conduct_point(c, &command, &seconds);
    s->batch = iso_clock_batch(&c->ctx->clock, seconds / command.batch);
}

/** Take some more samples of a point. @return how many; 0: enough */
static int sample(struct conductor *c, struct state *s)
{
    iso_sampler_t *sampler = &s->sampler;
    int samples = iso_sampler_wants(sampler);
    if (samples == 0) {
        return 0;
    }
    double start = iso_now(), *seconds = sampler->seconds + sampler->n;
    if (sampler->n == 0) {
        warm_up(c, s);
    }
    struct command command = {MEASURE, samples, s->batch, s->point};
    conduct_point(c, &command, seconds);
    for (int k = 0; k < samples; k++) {
        seconds[k] /= s->batch;
        iso_star_record_sample(c->star, &s->point, sampler->n + k, seconds[k],
                               s->batch);
    }
    c->latest = seconds[samples - 1];
    iso_record_flush(c->ctx->record);
    sampler->n += samples;
    sampler->spent += iso_now() - start;
    return samples;
}

static bool out_of_time(const struct conductor *c)
{
    return options.time_limit > 0 &&
           iso_now() - c->ctx->started > options.time_limit;
}

/** Visit all points, pass after pass, until each has enough samples. */
static iso_outcome_t conduct_passes(struct conductor *c)
{
    long enough;
    do { /* points take turns, so that a slow moment does not hit one of them */
        enough = 0;
        for (long k = 0; k < c->count; k++) {
            if (out_of_time(c)) {
                return ISO_CUT_SHORT;
            }
            enough += sample(c, &c->states[k]) == 0;
            iso_progress(c->ctx, enough, c->count, c->latest);
        }
    } while (enough < c->count);
    return ISO_COMPLETE;
}

/* --- the grid ------------------------------------------------------------ */

static void add_point(struct conductor *c, iso_star_point_t point)
{
    if (c->count == c->room) {
        c->room = 2 * c->room + 64;
        c->states = realloc(c->states, (size_t)c->room * sizeof(*c->states));
        if (c->states == NULL) {
            ISO_FAIL("no memory for %ld points", c->room);
        }
    }
    struct state *s = &c->states[c->count++];
    memset(s, 0, sizeof(*s));
    s->point = point;
    iso_sampler_init(&s->sampler, c->ctx->clock.simulated);
}

/** A point in every order and size. */
static void add_points(struct conductor *c, int intra, int in, int out)
{
    bool both = strcmp(options.post, "both") == 0;
    for (int inter_first = 0; inter_first < 2; inter_first++) {
        if (!both &&
            inter_first != (strcmp(options.post, "inter-first") == 0)) {
            continue;
        }
        for (int k = 0; k < options.sizes.count; k++) {
            iso_star_point_t point = {intra, in, out, inter_first,
                                      (int)options.sizes.bytes[k]};
            add_point(c, point);
        }
    }
}

/** All points with these partners: equal ones only, or all that need them. */
static void add_partners(struct conductor *c, int intra, int inter)
{
    if (intra + inter == 0) {
        return; /* nobody exchanges anything */
    }
    add_points(c, intra, inter, inter);
    for (int less = 0; strcmp(options.balance, "free") == 0 && less < inter;
         less++) {
        add_points(c, intra, less, inter);
        add_points(c, intra, inter, less);
    }
}

static void lay_out_grid(struct conductor *c)
{
    const iso_star_t *star = c->star;
    for (int intra = 0; intra <= options.max_intra; intra++) {
        for (int inter = 0; inter <= options.max_inter; inter++) {
            if (star->hot > 0 && intra <= star->reach_intra &&
                inter <= star->reach_inter) {
                add_partners(c, intra, inter);
            } else {
                iso_star_record_unreachable(star, options.hot, intra, inter);
                c->unreachable++;
            }
        }
    }
}

static void warn_of_samples(const struct conductor *c, iso_outcome_t outcome)
{
    char text[160];
    long missed = 0, unsteady = 0, measured = 0;
    for (long k = 0; k < c->count; k++) {
        if (c->states[k].sampler.n > 0) {
            iso_summary_t s = iso_sampler_summary(&c->states[k].sampler);
            missed += iso_sampler_missed(&s);
            unsteady += s.high - s.low > 0.2 * s.median;
            measured++;
        }
    }
    if (outcome == ISO_CUT_SHORT) {
        snprintf(text, sizeof(text),
                 "the time limit of %g s ended it; %ld of %ld points have "
                 "samples",
                 options.time_limit, measured, c->count);
        iso_record_warning(c->ctx->record, "cut-short", text);
    }
    if (missed > 0) {
        snprintf(text, sizeof(text),
                 "%ld of %ld points did not reach the precision asked for "
                 "within --max-repeats and --max-time",
                 missed, measured);
        iso_record_warning(c->ctx->record, "precision-missed", text);
    }
    if (10 * unsteady > measured) {
        snprintf(text, sizeof(text),
                 "the median of %ld of %ld points is not known to 10 %%; the "
                 "machine is noisy, or --repeats too small",
                 unsteady, measured);
        iso_record_warning(c->ctx->record, "noisy", text);
    }
}

static iso_outcome_t conduct(iso_star_t *star)
{
    struct conductor c = {.star = star, .ctx = star->ctx};
    iso_star_record_roles(star);
    lay_out_grid(&c);
    iso_star_warn(star, c.unreachable,
                  (options.max_intra + 1) * (options.max_inter + 1));
    iso_record_flush(c.ctx->record);
    iso_outcome_t outcome = c.count ? conduct_passes(&c) : ISO_COMPLETE;
    struct command stop = {.verb = STOP};
    for (int r = 1; r < c.ctx->size; r++) {
        MPI_CHECK(MPI_Send(&stop, COMMAND_INTS, MPI_INT, r, TAG_COMMAND,
                           c.ctx->control));
    }
    warn_of_samples(&c, outcome);
    for (long k = 0; k < c.count; k++) {
        iso_sampler_free(&c.states[k].sampler);
    }
    free(c.states);
    return outcome;
}

/* --- the experiment ------------------------------------------------------ */

static const char *quantity(void)
{
    return "exchange of a point, slowest rank";
}

static iso_outcome_t run(iso_context_t *ctx)
{
    iso_star_t star;
    iso_outcome_t outcome = ISO_COMPLETE;
    iso_star_init(&star, ctx, (int)options.hot, (int)options.max_intra,
                  (int)options.max_inter,
                  (int)iso_sizes_largest(&options.sizes));
    if (ctx->rank == 0) {
        outcome = conduct(&star);
    } else {
        serve(&star);
    }
    iso_star_free(&star);
    return outcome;
}

const iso_experiment_t iso_experiment_hotspot = {
    .name = "hotspot",
    .summary = "exchanges of hot processes with a growing number of partners",
    .options = all_options,
    .min_ranks = 2,
    .check = check,
    .quantity = quantity,
    .run = run,
};
