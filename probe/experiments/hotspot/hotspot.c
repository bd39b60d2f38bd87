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
 * others sleep.
 */
#include "base/check.h"
#include "experiment.h"
#include "experiments/hotspot/star_record.h"
#include "runfile/record.h"
#include "sampling/conductor.h"
#include "sampling/quality.h"
#include "sampling/time_limit.h"

#include <string.h>

enum { MAX_POINTS = 1 << 18 };

static struct {
    iso_sizes_t sizes;
    long hot, max_intra, max_inter;
    const char *post, *balance;
} options;

static const iso_option_t own_options[] = {
    {"bytes", ISO_OPTION_SIZES, "SIZE,...", "4MiB", "message sizes",
     &options.sizes},
    {"hot", ISO_OPTION_COUNT, "H", "1",
     "hot processes on the node, each with its own partners", &options.hot},
    {"post", ISO_OPTION_CHOICE, "intra-first|inter-first|both", "intra-first",
     "which receives and sends are posted first: those inside the node, or "
     "those between nodes",
     &options.post},
    {"balance", ISO_OPTION_CHOICE, "equal|free", "equal",
     "equal: as many messages in as out; free: also points where the two "
     "differ",
     &options.balance},
    {"max-intra", ISO_OPTION_COUNT, "N", "7",
     "maximum number of partners of a hot process inside its node",
     &options.max_intra},
    {"max-inter", ISO_OPTION_COUNT, "N", "7",
     "maximum number of partners of a hot process on other nodes",
     &options.max_inter},
    {0},
};

static const iso_option_t *const all_options[] = {
    own_options, iso_time_limit_options, iso_sampler_options, NULL};

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
        wrong = "--max-intra and --max-inter are both 0: there is "
                "nothing to measure";
    }
    if (wrong) {
        snprintf(error, ISO_ERROR_LENGTH, "%s", wrong);
        return -1;
    }
    return iso_sampler_check(error);
}

/* --- every rank but 0 ---------------------------------------------------- */

struct task {
    int samples, batch;
    iso_star_point_t point;
};

static void perform(void *self, const void *told, int from)
{
    iso_star_t *star = self;
    const struct task *task = told;
    double *seconds = iso_calloc((size_t)task->samples, sizeof(double));
    (void)from;
    iso_star_measure(star, &task->point, task->samples, task->batch, seconds);
    iso_conductor_report(star->ctx, seconds, task->samples);
    free(seconds);
}

/* --- rank 0 -------------------------------------------------------------- */

/** A point, and what is known of it. */
struct state {
    iso_star_point_t point;
    iso_sampler_t sampler;
    int batch;
};

struct grid {
    iso_star_t *star;
    const iso_context_t *ctx;
    const iso_conductor_t *conductor;
    struct state *states;
    long count, capacity;
    long unreachable;
    double latest; /**< last time measured, to show progress */
};

/** Let those who take part measure. @param slowest  maximum over them */
static void conduct_point(struct grid *grid, const struct task *task,
                          double *slowest)
{
    iso_star_t *star = grid->star;
    int samples = task->samples, count = iso_star_team(star, &task->point);
    bool involved = false;
    double *seconds = iso_calloc((size_t)samples, sizeof(double));
    for (int k = 0; k < count; k++) {
        if (star->team[k] == 0) {
            involved = true;
        } else {
            iso_conductor_tell(grid->conductor, star->team[k], task);
        }
    }
    memset(slowest, 0, (size_t)samples * sizeof(double));
    if (involved) {
        iso_star_measure(star, &task->point, samples, task->batch, slowest);
    }
    for (int k = 0; k < count; k++) {
        if (star->team[k] == 0) {
            continue;
        }
        iso_conductor_collect(grid->ctx, star->team[k], seconds, samples);
        for (int s = 0; s < samples; s++) {
            slowest[s] = seconds[s] > slowest[s] ? seconds[s] : slowest[s];
        }
    }
    free(seconds);
}

/** Untimed exchanges, and how many of them fill a sample. */
static void warm_up(struct grid *grid, struct state *s)
{
    double seconds;
    struct task task = {1, iso_sampler_warmup(), s->point};
    conduct_point(grid, &task, &seconds);
    s->batch = iso_clock_batch(&grid->ctx->clock, seconds / task.batch);
}

/** Take some more samples of a point. @return how many; 0: enough */
static int sample(struct grid *grid, struct state *s)
{
    iso_sampler_t *sampler = &s->sampler;
    int samples = iso_sampler_wants(sampler);
    if (samples == 0) {
        return 0;
    }
    double start = iso_now(), *seconds = sampler->seconds + sampler->n;
    if (sampler->n == 0) {
        warm_up(grid, s);
    }
    struct task task = {samples, s->batch, s->point};
    conduct_point(grid, &task, seconds);
    for (int k = 0; k < samples; k++) {
        seconds[k] /= s->batch;
        iso_star_record_sample(grid->star, &s->point, sampler->n + k,
                               seconds[k], s->batch);
    }
    grid->latest = seconds[samples - 1];
    iso_record_flush(grid->ctx->record);
    sampler->n += samples;
    sampler->spent += iso_now() - start;
    return samples;
}

/** Visit all points, pass after pass, until each has enough samples. */
static iso_outcome_t conduct_passes(struct grid *grid)
{
    long enough;
    do { /* points take turns, so that a slow moment does not hit one of them */
        enough = 0;
        for (long k = 0; k < grid->count; k++) {
            if (iso_time_limit_over(grid->ctx)) {
                return ISO_CUT_SHORT;
            }
            enough += sample(grid, &grid->states[k]) == 0;
            iso_progress(grid->ctx, enough, grid->count, grid->latest);
        }
    } while (enough < grid->count);
    return ISO_COMPLETE;
}

/* --- the grid ------------------------------------------------------------ */

static void add_point(struct grid *grid, iso_star_point_t point)
{
    if (grid->count == grid->capacity) {
        grid->capacity = 2 * grid->capacity + 64;
        grid->states = realloc(grid->states,
                               (size_t)grid->capacity * sizeof(*grid->states));
        if (grid->states == NULL) {
            ISO_FAIL("no memory for %ld points", grid->capacity);
        }
    }
    struct state *s = &grid->states[grid->count++];
    memset(s, 0, sizeof(*s));
    s->point = point;
    iso_sampler_init(&s->sampler, grid->ctx->clock.simulated);
}

/** A point in every order and size. */
static void add_points(struct grid *grid, int intra, int in, int out)
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
            add_point(grid, point);
        }
    }
}

/** All points with these partners: equal ones only, or all that need them. */
static void add_partners(struct grid *grid, int intra, int inter)
{
    if (intra + inter == 0) {
        return; /* there is nothing to exchange */
    }
    add_points(grid, intra, inter, inter);
    for (int less = 0; strcmp(options.balance, "free") == 0 && less < inter;
         less++) {
        add_points(grid, intra, less, inter);
        add_points(grid, intra, inter, less);
    }
}

static void lay_out_grid(struct grid *grid)
{
    const iso_star_t *star = grid->star;
    for (int intra = 0; intra <= options.max_intra; intra++) {
        for (int inter = 0; inter <= options.max_inter; inter++) {
            if (star->hot > 0 && intra <= star->reach_intra &&
                inter <= star->reach_inter) {
                add_partners(grid, intra, inter);
            } else {
                iso_star_record_unreachable(star, options.hot, intra, inter);
                grid->unreachable++;
            }
        }
    }
}

static void warn_of_samples(const struct grid *grid, iso_outcome_t outcome)
{
    iso_quality_t quality = {0};
    for (long k = 0; k < grid->count; k++) {
        iso_sampler_t *sampler = &grid->states[k].sampler;
        if (sampler->n > 0) {
            iso_summary_t summary = iso_sampler_summary(sampler);
            iso_quality_add(&quality, &summary);
        }
    }
    if (outcome == ISO_CUT_SHORT) {
        iso_time_limit_warn(grid->ctx, quality.points, grid->count, "points");
    }
    iso_quality_warn(&quality, grid->ctx->record);
}

static iso_outcome_t conduct(iso_star_t *star, const iso_conductor_t *conductor)
{
    struct grid grid = {.star = star, .ctx = star->ctx, .conductor = conductor};
    iso_star_record_roles(star);
    lay_out_grid(&grid);
    iso_star_warn(star, grid.unreachable,
                  (options.max_intra + 1) * (options.max_inter + 1));
    iso_record_flush(grid.ctx->record);
    iso_outcome_t outcome = grid.count ? conduct_passes(&grid) : ISO_COMPLETE;
    iso_conductor_dismiss(conductor);
    warn_of_samples(&grid, outcome);
    for (long k = 0; k < grid.count; k++) {
        iso_sampler_free(&grid.states[k].sampler);
    }
    free(grid.states);
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
    iso_conductor_t conductor = {.ctx = ctx,
                                 .task_size = sizeof(struct task),
                                 .self = &star,
                                 .perform = perform};
    if (ctx->rank == 0) {
        outcome = conduct(&star, &conductor);
    } else {
        iso_conductor_serve(&conductor);
    }
    iso_star_free(&star);
    return outcome;
}

const iso_experiment_t iso_experiment_hotspot = {
    .name = "hotspot",
    .summary = "exchanges of hot processes with a growing number of partners",
    .kind = "hotspot",
    .options = all_options,
    .min_ranks = 2,
    .check = check,
    .resolve = iso_sampler_resolve,
    .quantity = quantity,
    .run = run,
};
