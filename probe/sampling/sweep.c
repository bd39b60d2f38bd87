/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampling/sweep.h"

#include "base/check.h"
#include "machine/heartbeat.h"
#include "sampling/bends.h"
#include "sampling/coordinator.h"
#include "sampling/judge.h"
#include "sampling/time_limit.h"

#include <math.h>

/** Repetitions that a lack of time leaves a point at least. */
enum { FIRST_TASK = 32, MIN_REPEATS = 3 };

static struct {
    double tolerance;
    long long smallest_gap;
    long max_points, retest;
} options;

const iso_option_t iso_sweep_options[] = {
    {"tolerance", ISO_OPTION_PERCENT | ISO_EXPERT, "PERCENT", "2%",
     "--bytes auto: measure more sizes where the time deviates from a straight "
     "line by more than this",
     &options.tolerance},
    {"smallest-gap", ISO_OPTION_SIZE | ISO_EXPERT, "SIZE", "64",
     "--bytes auto: add no size between two that are closer than this, or than "
     "2 % of the size",
     &options.smallest_gap},
    {"max-points", ISO_OPTION_COUNT | ISO_EXPERT, "N", "100",
     "--bytes auto: maximum number of sizes", &options.max_points},
    {"retest", ISO_OPTION_COUNT | ISO_EXPERT, "N", "3",
     "re-measure outliers (sizes far slower than their neighbours) up to N "
     "times",
     &options.retest},
    {0},
};

int iso_sweep_check(char *error)
{
    if (options.max_points < 3 || options.max_points > ISO_MAX_SIZES) {
        return ISO_REFUSE(error, "--max-points is 3 to %d", ISO_MAX_SIZES);
    }
    return iso_sampler_check(error);
}

static bool takes_part(const iso_sweep_t *sweep, int subject, int rank)
{
    return !sweep->takes_part || sweep->takes_part(sweep->self, subject, rank);
}

static int times_each(const iso_sweep_t *sweep, int subject)
{
    return sweep->times_each ? sweep->times_each(sweep->self, subject) : 1;
}

static bool reports(const iso_sweep_t *sweep, int subject, int rank)
{
    return takes_part(sweep, subject, rank) &&
           (!sweep->reports || sweep->reports(sweep->self, subject, rank));
}

/* --- every rank but 0 ---------------------------------------------------- */

static void perform(void *self, const void *message, int from)
{
    const iso_sweep_t *sweep = self;
    const iso_task_t *task = message;
    long count = task->samples * times_each(sweep, task->subject);
    double *seconds = ISO_NEW(double, count);
    long steps = iso_clock_state.steps;
    sweep->perform(sweep->self, task, seconds);
    iso_clock_void(seconds, task->samples, steps);
    if (reports(sweep, task->subject, sweep->ctx->rank)) {
        iso_coordinator_report(sweep->ctx, seconds, count);
    }
    free(seconds);
}

/* --- rank 0 -------------------------------------------------------------- */

struct run {
    const iso_sweep_t *sweep;
    const iso_context_t *ctx;
    const iso_coordinator_t *coordinator;
    iso_points_t points;
    iso_refinement_t refinement;
    long taken;   /**< samples in all */
    long pending; /**< points that this pass has still to come to */
};

/**
 * Let the ranks of a subject do a task.
 *
 * @param times  receives task->samples times of each rank that reports, or as
 *               many as it has of each sample
 * @return how many times there are of each sample
 */
static int conduct_task(struct run *run, const iso_task_t *task, double *times)
{
    const iso_sweep_t *sweep = run->sweep;
    int subject = task->subject, reporters = 0;
    int each = times_each(sweep, subject);
    for (int r = 1; r < run->ctx->size; r++) {
        if (takes_part(sweep, subject, r)) {
            iso_coordinator_dispatch(run->coordinator, r, task);
        }
    }
    if (takes_part(sweep, subject, 0)) {
        long steps = iso_clock_state.steps;
        sweep->perform(sweep->self, task, times);
        iso_clock_void(times, task->samples, steps);
        reporters += reports(sweep, subject, 0) ? each : 0;
    }
    for (int r = 1; r < run->ctx->size; r++) {
        if (reports(sweep, subject, r)) {
            iso_coordinator_collect(run->ctx, r,
                                    times + reporters * task->samples,
                                    each * task->samples);
            reporters += each;
        }
    }
    iso_heartbeat_clear();
    return reporters;
}

static void write_record(struct run *run, const iso_point_t *point,
                         const iso_task_t *task, const double *times,
                         int reporters, long sample, double seconds)
{
    iso_record_t *record = run->ctx->record;
    iso_record_begin(record, "sample");
    run->sweep->record(run->sweep->self, task, times, reporters, sample);
    ISO_MEMBERS(record, ("bytes", task->bytes),
                ("pass", point->sampler.pass_count),
                ("repeat", point->sampler.n), ("seconds", seconds));
    if (task->batch > 1) {
        iso_record_int(record, "batch", task->batch);
    }
    if (point->again) {
        iso_record_bool(record, "again", true);
    }
    iso_record_end(record);
}

/** The slowest rank's time of sample @a k; negative if one rank's is void. */
static double slowest(const double *times, const iso_task_t *task,
                      int reporters, long k, double *one_sample)
{
    double most = 0;
    for (int r = 0; r < reporters; r++) {
        double seconds = times[r * task->samples + k];
        one_sample[r] = seconds;
        most = seconds < 0 || most < 0 ? -1 : seconds > most ? seconds : most;
    }
    return most;
}

/** Take samples of a point and write them; a batch of 0 is the warm-up. */
static double take(struct run *run, iso_point_t *point, long samples,
                   long batch)
{
    const iso_sweep_t *sweep = run->sweep;
    iso_sampler_t *sampler = &point->sampler;
    long warmup = iso_sampler_warmup();
    iso_task_t task = {.bytes = point->bytes,
                       .subject = point->subject,
                       .samples = batch ? samples : 1,
                       .batch = batch ? batch : warmup,
                       .first = sampler->n};
    size_t size = (size_t)run->ctx->size * times_each(sweep, task.subject);
    double *times = ISO_NEW(double, size *task.samples + size);
    double *one_sample = times + size * task.samples;
    double start = iso_now(), last = 0, most = 0;
    long voided = 0;
    int reporters = conduct_task(run, &task, times);
    for (long k = 0; k < task.samples; k++) {
        last = slowest(times, &task, reporters, k, one_sample);
        most = last > most ? last : most;
        voided += last < 0;
        if (batch && last >= 0) {
            write_record(run, point, &task, one_sample, reporters,
                         (task.first + k), last);
            sampler->seconds[sampler->n++] = last;
        }
    }
    if (sweep->adapt) {
        sweep->adapt(sweep->self, &task, voided, most);
    }
    sampler->spent += iso_now() - start;
    iso_record_flush(run->ctx->record);
    free(times);
    return last;
}

/** Samples that a point may take now; fewer than wanted when time is short. */
static long afford(struct run *run, iso_point_t *point, long wanted,
                   double estimate)
{
    double left = iso_time_limit_left(run->ctx);
    if (isinf(left) || estimate <= 0) {
        return wanted;
    }
    if (point->sampler.n == 0) { /* so that every point gets some */
        return wanted < MIN_REPEATS ? wanted : MIN_REPEATS;
    }
    double share = left / (run->pending > 0 ? run->pending : 1);
    /* What a sample has cost so far, where that is more: those who do not work
     * in it may have to be woken. */
    double cost = fmax(2 * estimate * point->batch,
                       point->sampler.spent / point->sampler.n);
    double room = share / cost;
    if (room >= wanted) {
        return wanted;
    }
    point->lowered = true;
    return (long)fmax(0, room);
}

/**
 * Take samples in tasks of about a second, so that a crash loses no more, and
 * rank 0 is heard of. The first is small: on crowded processors samples may
 * take a hundred times what the warm-up did.
 */
static void take_in_tasks(struct run *run, iso_point_t *point, long wanted,
                          double estimate)
{
    double fit = FIRST_TASK;
    if (estimate * point->batch * fit > 1) {
        fit = 1 / (estimate * point->batch);
    }
    while (wanted > 0) {
        long now = fit < wanted ? (long)fmax(1, fit) : wanted;
        double start = iso_now();
        take(run, point, now, point->batch);
        double spent = iso_now() - start;
        fit = fmin(4 * (double)now, now / fmax(spent, 1e-9));
        wanted -= now;
        if (wanted > 0 && iso_time_limit_over(run->ctx)) {
            point->lowered = true; /* samples took longer than expected */
            break;
        }
    }
}

/** Give a point some more samples. @return whether it took any */
static bool visit(struct run *run, iso_point_t *point)
{
    iso_sampler_t *sampler = &point->sampler;
    long wanted = iso_sampler_wants(sampler);
    bool first = run->taken == 0; /* a run has a result, however late it is */
    if (wanted > 0 && !first && iso_time_limit_over(run->ctx)) {
        point->lowered = true;
        return false;
    }
    if (wanted == 0 || point->void_visits > ISO_MAX_VOID_VISITS) {
        return false;
    }
    double estimate = sampler->n > 0 ? point->summary.median : 0;
    if (sampler->n == 0) {
        estimate = take(run, point, 1, 0);
        point->batch =
            estimate > 0 ? iso_clock_batch(&run->ctx->clock, estimate) : 1;
    }
    long before = sampler->n;
    wanted = afford(run, point, wanted, estimate);
    take_in_tasks(run, point, wanted, estimate);
    if (sampler->n > 0) {
        iso_sampler_close_pass(sampler, before);
        point->summary = iso_sampler_summary(sampler);
        run->taken += sampler->n - before;
    }
    point->void_visits += wanted > 0 && sampler->n == before;
    return wanted > 0;
}

static void show_progress(const struct run *run, const iso_point_t *point)
{
    long total = run->points.count * iso_sampler_goal();
    total = total > run->taken ? total : run->taken;
    iso_progress(run->ctx, run->taken, total, point->summary.median);
}

/** Pass after pass, so that a slow moment does not hit one size only. */
static void measure_points(struct run *run)
{
    bool any = true;
    while (any) {
        any = false;
        run->pending = run->points.count;
        for (int k = 0; k < run->points.count; k++, run->pending--) {
            if (visit(run, &run->points.items[k])) {
                any = true;
                show_progress(run, &run->points.items[k]);
            }
        }
    }
}

/** Measure what looks like a bend again, until it is sure or none. */
static void confirm_bends(struct run *run)
{
    while (iso_bends_question(&run->points, &run->refinement)) {
        run->pending = run->points.count;
        for (int k = 0; k < run->points.count; k++) {
            iso_point_t *point = &run->points.items[k];
            if (!point->questioned) {
                continue;
            }
            iso_sampler_extend(&point->sampler,
                               iso_sampler_share(&point->sampler));
            if (!visit(run, point)) {
                return; /* out of time: unconfirmed bends are dropped */
            }
            show_progress(run, point);
        }
        iso_bends_note(&run->points);
    }
}

/** With --bytes auto: more sizes where the curve bends. */
static void refine(struct run *run)
{
    confirm_bends(run);
    while (!iso_time_limit_over(run->ctx) &&
           iso_bends_refine(&run->points, &run->refinement)) {
        measure_points(run);
        confirm_bends(run);
    }
}

/** Measure outliers again. */
static void measure_again(struct run *run)
{
    if (run->points.simulated) {
        return; /* nothing varies there */
    }
    for (long round = 0; round < options.retest; round++) {
        for (int k = 0; k < run->points.count; k++) {
            iso_point_t *point = &run->points.items[k];
            if (!iso_time_limit_over(run->ctx) &&
                iso_points_is_outlier(&run->points, k)) {
                point->again = true;
                iso_sampler_extend(&point->sampler, iso_sampler_goal());
            }
        }
        measure_points(run);
    }
}

static void add_points(struct run *run)
{
    static const iso_sizes_t no_size = {.count = 1};
    const iso_sweep_t *sweep = run->sweep;
    for (int s = 0; s < sweep->subjects; s++) {
        bool none = sweep->has_no_size && sweep->has_no_size(sweep->self, s);
        iso_points_add(&run->points, s, none ? &no_size : sweep->sizes,
                       &run->refinement);
    }
}

static iso_outcome_t conduct(const iso_sweep_t *sweep,
                             const iso_coordinator_t *coordinator)
{
    struct run run = {
        .sweep = sweep, .ctx = sweep->ctx, .coordinator = coordinator};
    long long quantum = sweep->quantum > 0 ? sweep->quantum : 1;
    run.refinement = (iso_refinement_t){
        .tolerance = options.tolerance,
        .smallest_gap =
            options.smallest_gap > quantum ? options.smallest_gap : quantum,
        .quantum = quantum,
        .max_points = options.max_points,
    };
    iso_points_init(&run.points, sweep->ctx->clock.simulated);
    add_points(&run);
    measure_points(&run);
    if (sweep->sizes->automatic) {
        refine(&run);
    }
    measure_again(&run);
    iso_coordinator_dismiss(coordinator);
    iso_outcome_t outcome =
        iso_points_judge(&run.points, run.ctx, options.max_points);
    iso_points_free(&run.points);
    return outcome;
}

iso_outcome_t iso_sweep_run(iso_sweep_t *sweep)
{
    iso_coordinator_t coordinator = {.ctx = sweep->ctx,
                                     .task_size = sizeof(iso_task_t),
                                     .self = sweep,
                                     .perform = perform};
    if (sweep->ctx->rank == 0) {
        return conduct(sweep, &coordinator);
    }
    iso_coordinator_serve(&coordinator);
    return ISO_COMPLETE;
}
