/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file hotspot.c
 * Times the hot spot of a communication: cFireworks (K. Cha, "cFireworks: a
 * Tool for Measuring the Communication Costs in Collective I/O"), with points
 * beyond the paper's.
 *
 * Hot processes of one node exchange messages with a growing number of
 * partners inside their node and on other nodes (star.h): a double loop over
 * both, or a few points of it that determine a model, and others at which all
 * nodes are busy (ring.h). Rank 0 coordinates: in each pass it visits all
 * points, dispatches each to the ranks that take part, and takes the maximum
 * of their times. All others sleep.
 */
#include "base/check.h"
#include "experiments/hotspot/star_points.h"
#include "experiments/hotspot/star_record.h"
#include "sampling/coordinator.h"
#include "sampling/quality.h"
#include "sampling/time_limit.h"

#include <math.h>

enum { MAX_POINTS = 1 << 18, MAX_TRAIN = 64 };

/** Maximum seconds of consecutive samples without a report to rank 0. */
static const double SILENT = 1;

/** Target seconds of a sample of short exchanges on a coarse grid. */
static const double TRAIN_SECONDS = 0.05;

static struct {
    iso_sizes_t sizes;
    long hot, max_intra, max_inter;
    const char *post, *points, *balance;
} options;

static const iso_option_t own_options[] = {
    {"bytes", ISO_OPTION_SIZES, "SIZE,...", "4MiB", "bytes per message",
     &options.sizes},
    {"hot", ISO_OPTION_COUNT, "H", "1",
     "number of ranks of the hot node that communicate (hot ranks); each has "
     "its own partners",
     &options.hot},
    {"post", ISO_OPTION_CHOICE | ISO_EXPERT, "intra-first|inter-first|both",
     "intra-first",
     "messages posted first: those within the node (intra), or those to other "
     "nodes (inter)",
     &options.post},
    {"points", ISO_OPTION_CHOICE | ISO_EXPERT, "auto|coarse|full", "auto",
     "combinations of numbers of partners: full: all; coarse: few, also with "
     "all nodes busy; auto: coarse for several sizes",
     &options.points},
    {"balance", ISO_OPTION_CHOICE | ISO_EXPERT, "auto|equal|free", "auto",
     "equal: as many messages in as out; free: also unequal numbers; auto: "
     "free with --points coarse",
     &options.balance},
    {"max-intra", ISO_OPTION_COUNT, "N", "7",
     "maximum number of intra-node partners of a hot rank", &options.max_intra},
    {"max-inter", ISO_OPTION_COUNT, "N", "7",
     "maximum number of inter-node partners of a hot rank", &options.max_inter},
    {0},
};

static const iso_option_t *const all_options[] = {
    own_options, iso_time_limit_options, iso_sampler_options, NULL};

static bool coarse(void)
{
    bool several =
        strcmp(options.points, "auto") == 0 && options.sizes.count > 1;
    return several || strcmp(options.points, "coarse") == 0;
}

static bool is_free(void)
{
    bool few = strcmp(options.balance, "auto") == 0 && coarse();
    return few || strcmp(options.balance, "free") == 0;
}

static void resolve(int ranks)
{
    options.balance = is_free() ? "free" : "equal";
    options.points = coarse() ? "coarse" : "full";
    iso_sampler_resolve(ranks);
}

static int check(char *error)
{
    long inter = options.max_inter + 1;
    double points = (options.max_intra + 1) * (double)inter *
                    (is_free() ? inter : 1) * options.sizes.count;
    const char *wrong = NULL;
    if (options.hot < 1) {
        wrong = "--hot must be at least 1";
    } else if (!coarse() && points > MAX_POINTS) {
        wrong = "too many points: reduce --max-intra and --max-inter";
    } else if (options.max_intra + options.max_inter == 0) {
        wrong = "--max-intra and --max-inter are both 0: raise one of them";
    }
    return wrong ? ISO_REFUSE(error, "%s", wrong) : iso_sampler_check(error);
}

/* --- every rank but 0 ---------------------------------------------------- */

struct task {
    int samples, batch;
    iso_star_point_t point;
};

static void perform(void *self, const void *message, int from)
{
    iso_star_t *star = self;
    const struct task *task = message;
    double *seconds = ISO_NEW(double, task->samples);
    iso_star_measure(star, &task->point, task->samples, task->batch, seconds);
    iso_coordinator_report(star->ctx, seconds, task->samples);
    free(seconds);
}

/* --- rank 0 -------------------------------------------------------------- */

/** A point and its samples. */
struct state {
    iso_star_point_t point;
    iso_sampler_t sampler;
    int batch;
    double each; /**< seconds of a sample, about */
};

struct grid {
    iso_star_t *star;
    const iso_context_t *ctx;
    const iso_coordinator_t *coordinator;
    struct state *states;
    long count;
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
    double *seconds = ISO_NEW(double, samples);
    for (int k = 0; k < count; k++) {
        if (star->team[k] == 0) {
            involved = true;
        } else {
            iso_coordinator_dispatch(grid->coordinator, star->team[k], task);
        }
    }
    memset(slowest, 0, samples * sizeof(double));
    if (involved) {
        iso_star_measure(star, &task->point, samples, task->batch, slowest);
    }
    for (int k = 0; k < count; k++) {
        if (star->team[k] == 0) {
            continue;
        }
        iso_coordinator_collect(grid->ctx, star->team[k], seconds, samples);
        for (int s = 0; s < samples; s++) {
            bool is_void = seconds[s] < 0 || slowest[s] < 0;
            slowest[s] = is_void ? -1 : fmax(seconds[s], slowest[s]);
        }
    }
    free(seconds);
}

/** How many exchanges of some seconds follow each other in a sample. Rounds of
 *  collective I/O do so, and what a link forwards at once after a pause is not
 *  what it takes: on a coarse grid, short exchanges fill some time. */
static int train(const struct grid *grid, double seconds)
{
    int least = iso_clock_batch(&grid->ctx->clock, seconds);
    if (!coarse() || grid->ctx->clock.simulated) {
        return least;
    }
    int full = seconds > TRAIN_SECONDS / MAX_TRAIN
                   ? (int)(TRAIN_SECONDS / seconds)
                   : MAX_TRAIN;
    return full > least ? full : least;
}

/** Untimed exchanges, and how many of them fill a sample. */
static void warm_up(struct grid *grid, struct state *s)
{
    double seconds = -1; /* void: the clock was set back meanwhile */
    struct task task = {1, iso_sampler_warmup(), s->point};
    for (int k = 0; k < ISO_MAX_WARMUPS && seconds < 0; k++) {
        conduct_point(grid, &task, &seconds);
    }
    s->batch = train(grid, seconds / task.batch);
    s->each = seconds / task.batch * s->batch;
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
    if (!grid->ctx->clock.simulated && s->each * samples > SILENT) {
        samples = (int)fmax(1, SILENT / s->each);
    }
    struct task task = {samples, s->batch, s->point};
    conduct_point(grid, &task, seconds);
    long valid = iso_clock_valid(seconds, samples);
    for (long k = 0; k < valid; k++) {
        seconds[k] /= s->batch;
        iso_star_record_sample(grid->star, &s->point, sampler->n + k,
                               seconds[k], s->batch);
    }
    grid->latest = valid > 0 ? seconds[valid - 1] : grid->latest;
    iso_record_flush(grid->ctx->record);
    sampler->n += valid;
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

/** One state for each point that there is. */
static void lay_out(struct grid *grid)
{
    iso_star_wanted_t wanted = {
        .hot = options.hot,
        .max_intra = options.max_intra,
        .max_inter = options.max_inter,
        .sizes = &options.sizes,
        .intra_first = strcmp(options.post, "inter-first") != 0,
        .inter_first = strcmp(options.post, "intra-first") != 0,
        .unequal = is_free()};
    iso_star_points_t points = {0};
    if (coarse()) {
        iso_star_points_coarse(&points, grid->star, &wanted);
    } else {
        iso_star_points_full(&points, grid->star, &wanted);
    }
    grid->count = points.count;
    grid->unreachable = points.unreachable;
    grid->states = ISO_NEW(struct state, points.count + 1);
    for (long k = 0; k < points.count; k++) {
        grid->states[k].point = points.point[k];
        iso_sampler_init(&grid->states[k].sampler, grid->ctx->clock.simulated);
    }
    free(points.point);
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

static iso_outcome_t conduct(iso_star_t *star,
                             const iso_coordinator_t *coordinator)
{
    struct grid grid = {
        .star = star, .ctx = star->ctx, .coordinator = coordinator};
    iso_star_record_roles(star);
    lay_out(&grid);
    iso_star_warn(star, grid.unreachable,
                  coarse() ? grid.count + grid.unreachable
                           : (options.max_intra + 1) * (options.max_inter + 1));
    iso_record_flush(grid.ctx->record);
    iso_outcome_t outcome = grid.count ? conduct_passes(&grid) : ISO_COMPLETE;
    iso_coordinator_dismiss(coordinator);
    warn_of_samples(&grid, outcome);
    for (long k = 0; k < grid.count; k++) {
        iso_sampler_free(&grid.states[k].sampler);
    }
    free(grid.states);
    return outcome;
}

/* --- the experiment ------------------------------------------------------ */

static iso_outcome_t run(iso_context_t *ctx)
{
    iso_star_t star;
    iso_outcome_t outcome = ISO_COMPLETE;
    iso_star_init(&star, ctx, options.hot, options.max_intra, options.max_inter,
                  coarse(), iso_sizes_largest(&options.sizes));
    iso_coordinator_t coordinator = {.ctx = ctx,
                                     .task_size = sizeof(struct task),
                                     .self = &star,
                                     .perform = perform};
    if (ctx->rank == 0) {
        outcome = conduct(&star, &coordinator);
    } else {
        iso_coordinator_serve(&coordinator);
    }
    iso_star_free(&star);
    return outcome;
}

const iso_experiment_t iso_experiment_hotspot = {
    .name = "hotspot",
    .summary =
        "times of one (hot) node that communicates with more and more partners",
    .kind = "hotspot",
    .options = all_options,
    .min_ranks = 2,
    .check = check,
    .resolve = resolve,
    .quantity_text = "exchange of a point, slowest rank",
    .run = run,
};
