/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampling/sweep.h"

#include "base/check.h"
#include "machine/idle.h"
#include "runfile/record.h"
#include "sampling/points.h"
#include "sampling/sampler.h"

#include <math.h>

enum { TAG_TASK = 1201, TAG_TIMES };

/** Repetitions that a lack of time leaves a point at least. */
enum { LEAST_REPEATS = 3 };

/** Visits without a valid sample after which a point is given up. */
enum { MOST_FRUITLESS = 20 };

static struct {
    double tolerance;
    long long smallest_gap;
    long max_points, again;
    double time_limit;
} options;

const iso_option_t iso_sweep_options[] = {
    {"tolerance", ISO_OPTION_NUMBER, "FRACTION", "0.02",
     "--bytes auto: refine where a time is off the line between its neighbours "
     "by more than this",
     &options.tolerance},
    {"smallest-gap", ISO_OPTION_SIZE, "SIZE", "64",
     "--bytes auto: do not refine between sizes this near",
     &options.smallest_gap},
    {"max-points", ISO_OPTION_COUNT, "N", "100",
     "--bytes auto: at most so many sizes", &options.max_points},
    {"again", ISO_OPTION_COUNT, "N", "3",
     "measure a point that its neighbours do not explain again, up to N times",
     &options.again},
    {"time-limit", ISO_OPTION_SECONDS, "SECONDS", "0",
     "lower the repetitions, and if need be leave out points, to end within "
     "this time; 0: no limit",
     &options.time_limit},
    {0},
};

int iso_sweep_check(char *error)
{
    if (options.max_points < 3 || options.max_points > ISO_MAX_SIZES) {
        snprintf(error, ISO_ERROR_LENGTH, "--max-points is 3 to %d",
                 ISO_MAX_SIZES);
        return -1;
    }
    return iso_sampler_check(error);
}

enum { TASK_WORDS = sizeof(iso_task_t) / sizeof(long long) };

/* --- every rank ---------------------------------------------------------- */

static void serve(const iso_sweep_t *sweep)
{
    const iso_context_t *ctx = sweep->ctx;
    for (;;) {
        iso_task_t task;
        iso_idle_recv(&ctx->clock, &task, TASK_WORDS, MPI_LONG_LONG, 0,
                      TAG_TASK, ctx->control, MPI_STATUS_IGNORE);
        if (task.subject == ISO_SWEEP_END) {
            return;
        }
        double *seconds = iso_calloc((size_t)task.samples, sizeof(double));
        sweep->perform(sweep->self, &task, seconds);
        if (sweep->reports(sweep->self, (int)task.subject, ctx->rank)) {
            MPI_CHECK(MPI_Send(seconds, (int)task.samples, MPI_DOUBLE, 0,
                               TAG_TIMES, ctx->control));
        }
        free(seconds);
    }
}

/* --- the conductor, rank 0 ----------------------------------------------- */

struct conductor {
    const iso_sweep_t *sweep;
    const iso_context_t *ctx;
    iso_points_t points;
    iso_refinement_t refinement;
    long taken;   /**< samples in all */
    long pending; /**< points that this pass has still to come to */
    long left_out, lowered, missed, unsteady;
};

static double time_left(const struct conductor *c)
{
    return options.time_limit - (iso_now() - c->ctx->started);
}

static bool out_of_time(const struct conductor *c)
{
    return options.time_limit > 0 && time_left(c) <= 0;
}

static void tell(const struct conductor *c, int rank, const iso_task_t *task)
{
    MPI_CHECK(MPI_Send(task, TASK_WORDS, MPI_LONG_LONG, rank, TAG_TASK,
                       c->ctx->control));
}

/**
 * Let the ranks of a subject do a task.
 *
 * @param times  receives task->samples times of each rank that reports
 * @return number of those ranks
 */
static int conduct_task(struct conductor *c, const iso_task_t *task,
                        double *times)
{
    const iso_sweep_t *sweep = c->sweep;
    const iso_context_t *ctx = c->ctx;
    int subject = (int)task->subject, reporters = 0;
    for (int r = 1; r < ctx->size; r++) {
        if (sweep->takes_part(sweep->self, subject, r)) {
            tell(c, r, task);
        }
    }
    if (sweep->takes_part(sweep->self, subject, 0)) {
        sweep->perform(sweep->self, task, times);
        reporters += sweep->reports(sweep->self, subject, 0);
    }
    for (int r = 1; r < ctx->size; r++) {
        if (sweep->takes_part(sweep->self, subject, r) &&
            sweep->reports(sweep->self, subject, r)) {
            iso_idle_recv(&ctx->clock, times + reporters * task->samples,
                          (int)task->samples, MPI_DOUBLE, r, TAG_TIMES,
                          ctx->control, MPI_STATUS_IGNORE);
            reporters++;
        }
    }
    return reporters;
}

static void write_record(struct conductor *c, const iso_point_t *point,
                         const iso_task_t *task, const double *times,
                         int reporters, long sample, double seconds)
{
    iso_record_t *record = c->ctx->record;
    iso_record_begin(record, "sample");
    c->sweep->record(c->sweep->self, task, times, reporters, sample);
    iso_record_int(record, "bytes", (long)task->bytes);
    iso_record_int(record, "repeat", point->sampler.n);
    iso_record_double(record, "seconds", seconds);
    if (task->batch > 1) {
        iso_record_int(record, "batch", (long)task->batch);
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
static double take(struct conductor *c, iso_point_t *point, long samples,
                   long batch)
{
    const iso_sweep_t *sweep = c->sweep;
    iso_sampler_t *sampler = &point->sampler;
    long warmup = iso_sampler_warmup();
    iso_task_t task = {.bytes = point->bytes,
                       .subject = point->subject,
                       .samples = batch ? samples : 1,
                       .batch = batch ? batch : warmup,
                       .first = sampler->n};
    size_t size = (size_t)c->ctx->size;
    double *times =
        iso_calloc(size * (size_t)task.samples + size, sizeof(double));
    double *one_sample = times + size * (size_t)task.samples;
    double start = iso_now(), last = 0, most = 0;
    long voided = 0;
    int reporters = conduct_task(c, &task, times);
    for (long k = 0; k < task.samples; k++) {
        last = slowest(times, &task, reporters, k, one_sample);
        most = last > most ? last : most;
        voided += last < 0;
        if (batch && last >= 0) {
            write_record(c, point, &task, one_sample, reporters,
                         (long)(task.first + k), last);
            sampler->seconds[sampler->n++] = last;
        }
    }
    if (sweep->heed) {
        sweep->heed(sweep->self, &task, voided, most);
    }
    sampler->spent += iso_now() - start;
    iso_record_flush(c->ctx->record);
    free(times);
    return last;
}

/** Samples that a point may take now; fewer than wanted when time is short. */
static long afford(struct conductor *c, iso_point_t *point, long wanted,
                   double estimate)
{
    if (options.time_limit == 0 || estimate <= 0) {
        return wanted;
    }
    if (point->sampler.n == 0) { /* so that every point gets some */
        return wanted < LEAST_REPEATS ? wanted : LEAST_REPEATS;
    }
    double share = time_left(c) / (double)(c->pending > 0 ? c->pending : 1);
    double room = share / (2 * estimate * (double)point->batch);
    if (room >= (double)wanted) {
        return wanted;
    }
    point->lowered = true;
    return (long)fmax(0, room);
}

/** Give a point some more samples. @return whether it took any */
static bool visit(struct conductor *c, iso_point_t *point)
{
    iso_sampler_t *sampler = &point->sampler;
    long wanted = iso_sampler_wants(sampler);
    if (wanted > 0 && out_of_time(c)) {
        point->lowered = true;
        return false;
    }
    if (wanted == 0 || point->fruitless > MOST_FRUITLESS) {
        return false;
    }
    double estimate = sampler->n > 0 ? point->summary.median : 0;
    if (sampler->n == 0) {
        estimate = take(c, point, 1, 0);
        point->batch =
            estimate > 0 ? iso_clock_batch(&c->ctx->clock, estimate) : 1;
    }
    long before = sampler->n;
    wanted = afford(c, point, wanted, estimate);
    if (wanted > 0) {
        take(c, point, wanted, point->batch);
    }
    if (sampler->n > 0) {
        point->summary = iso_sampler_summary(sampler);
        c->taken += sampler->n - before;
    }
    point->fruitless += wanted > 0 && sampler->n == before;
    return wanted > 0;
}

static void show_progress(const struct conductor *c, const iso_point_t *point)
{
    long total = c->points.count * iso_sampler_goal();
    total = total > c->taken ? total : c->taken;
    iso_progress(c->ctx, c->taken, total, point->summary.median);
}

/** Pass after pass, so that a slow moment does not hit one size only. */
static void measure_points(struct conductor *c)
{
    bool any = true;
    while (any) {
        any = false;
        c->pending = c->points.count;
        for (int k = 0; k < c->points.count; k++, c->pending--) {
            if (visit(c, &c->points.items[k])) {
                any = true;
                show_progress(c, &c->points.items[k]);
            }
        }
    }
}

/** Measure points again that their neighbours do not explain. */
static void measure_again(struct conductor *c)
{
    if (c->points.simulated) {
        return; /* nothing varies there */
    }
    for (long round = 0; round < options.again; round++) {
        for (int k = 0; k < c->points.count; k++) {
            iso_point_t *point = &c->points.items[k];
            if (!out_of_time(c) && iso_points_sticks_out(&c->points, k)) {
                point->again = true;
                iso_sampler_extend(&point->sampler, iso_sampler_goal());
                visit(c, point);
            }
        }
        measure_points(c);
    }
}

static void judge(struct conductor *c)
{
    for (int k = 0; k < c->points.count; k++) {
        const iso_point_t *point = &c->points.items[k];
        const iso_summary_t *s = &point->summary;
        if (point->sampler.n == 0) {
            c->left_out++;
            continue;
        }
        c->lowered += point->lowered && point->sampler.n < iso_sampler_goal();
        c->missed += iso_sampler_missed(s);
        c->unsteady += s->high - s->low > 0.2 * s->median;
    }
}

static void warn(const struct conductor *c)
{
    char text[200];
    iso_record_t *record = c->ctx->record;
    int points = c->points.count;
    if (c->left_out > 0) {
        snprintf(text, sizeof(text),
                 "the time limit of %g s left out %ld of %d points",
                 options.time_limit, c->left_out, points);
        iso_record_warning(record, "cut-short", text);
    }
    if (c->lowered > 0) {
        snprintf(text, sizeof(text),
                 "the time limit of %g s lowered the repetitions of %ld of %d "
                 "points",
                 options.time_limit, c->lowered, points);
        iso_record_warning(record, "repeats-lowered", text);
    }
    if (c->points.full) {
        snprintf(text, sizeof(text),
                 "the curve has more bends than --max-points %ld can follow",
                 options.max_points);
        iso_record_warning(record, "max-points", text);
    }
    if (c->missed > 0) {
        snprintf(text, sizeof(text),
                 "%ld of %d points did not reach the precision asked for "
                 "within --max-repeats and --max-time",
                 c->missed, points);
        iso_record_warning(record, "precision-missed", text);
    }
    if (10 * c->unsteady > points) {
        snprintf(text, sizeof(text),
                 "the median of %ld of %d points is not known to 10 %%; the "
                 "machine is noisy, or --repeats too small",
                 c->unsteady, points);
        iso_record_warning(record, "noisy", text);
    }
}

static iso_outcome_t conduct(const iso_sweep_t *sweep)
{
    struct conductor c = {.sweep = sweep, .ctx = sweep->ctx};
    c.refinement = (iso_refinement_t){
        .tolerance = options.tolerance,
        .smallest_gap = options.smallest_gap > sweep->quantum
                            ? options.smallest_gap
                            : sweep->quantum,
        .quantum = sweep->quantum,
        .max_points = (int)options.max_points,
    };
    iso_points_init(&c.points, sweep->ctx->clock.simulated);
    for (int s = 0; s < sweep->subjects; s++) {
        iso_points_add(&c.points, s, sweep->sizes(sweep->self, s),
                       &c.refinement);
    }
    do {
        measure_points(&c);
    } while (!out_of_time(&c) && iso_points_refine(&c.points, &c.refinement));
    measure_again(&c);
    iso_task_t end = {.subject = ISO_SWEEP_END};
    for (int r = 1; r < sweep->ctx->size; r++) {
        tell(&c, r, &end);
    }
    judge(&c);
    warn(&c);
    iso_points_free(&c.points);
    return c.left_out ? ISO_CUT_SHORT : ISO_COMPLETE;
}

iso_outcome_t iso_sweep_run(const iso_sweep_t *sweep)
{
    if (sweep->ctx->rank == 0) {
        return conduct(sweep);
    }
    serve(sweep);
    return ISO_COMPLETE;
}
