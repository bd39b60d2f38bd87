/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/app/results.h"

#include "base/check.h"
#include "base/order.h"
#include "machine/own_collectives.h"
#include "messages/idle.h"

#include <math.h>

enum { TAG_RANKS = 8501, TAG_EACH };

/** Results of rank 0's own application. */
static iso_app_result_t own;

/** Quantiles of the iterations of a rank. So many iterations enclose one with
 *  95 %: the slowest lies beyond it with 97.5 %. */
static const struct {
    const char *key;
    double fraction;
    long enough;
} quantiles[] = {{"p50", 0.5, 6}, {"p99", 0.99, 368}, {"p999", 0.999, 3688}};

enum { QUANTILES = sizeof(quantiles) / sizeof(quantiles[0]) };

static void fill_quantiles(const double *each, long count, double *values)
{
    double *sorted = ISO_NEW(double, count);
    memcpy(sorted, each, count * sizeof(*sorted));
    iso_sort(sorted, count);
    for (int k = 0; k < QUANTILES; k++) {
        values[k] = count < quantiles[k].enough
                        ? -1
                        : iso_quantile(sorted, count, quantiles[k].fraction);
    }
    free(sorted);
}

static int values_of(const iso_app_t *app)
{
    return ISO_RANK_VALUES + app->phase_count;
}

static void fill(const iso_executor_t *executor, const iso_sync_t *sync,
                 double *values)
{
    const iso_stats_t *a = &executor->stats;
    values[ISO_RANK_BEGIN] = iso_sync_global(sync, a->begin);
    values[ISO_RANK_END] = iso_sync_global(sync, a->end);
    values[ISO_RANK_SECONDS] = a->end - a->begin;
    values[ISO_RANK_COMMUNICATION] = a->end - a->begin - a->computing;
    values[ISO_RANK_ASKED] = a->requested;
    values[ISO_RANK_DELIVERED] = a->delivered;
    values[ISO_RANK_SWITCHES] = a->switches;
    values[ISO_RANK_ITERATIONS] = a->iterations;
    fill_quantiles(a->each, a->iterations < a->room ? a->iterations : a->room,
                   values + ISO_RANK_QUANTILES);
    memcpy(values + ISO_RANK_VALUES, a->phases,
           executor->own->phase_count * sizeof(double));
}

void iso_results_hand_in(iso_executor_t *executor, const iso_sync_t *sync)
{
    const iso_stats_t *stats = &executor->stats;
    int values = values_of(executor->own), ranks = executor->own->ranks;
    long kept =
        stats->iterations < stats->room ? stats->iterations : stats->room;
    bool first = executor->rank == 0;
    double *mine = ISO_NEW(double, values);
    double *all = NULL;
    if (first) {
        all = ISO_NEW(double, values *(size_t)ranks);
    }
    double *each = ISO_NEW(double, kept);
    memcpy(each, stats->each, kept * sizeof(double));
    fill(executor, sync, mine);
    iso_plain_gather(executor->comm, mine, values * sizeof(double), all);
    iso_plain_reduce(executor->comm, each, kept, MPI_DOUBLE, MPI_MAX);
    free(mine);
    if (first && executor->ctx->rank == 0) {
        own = (iso_app_result_t){all, each, kept, 0, 0};
        return;
    }
    if (first) {
        MPI_CHECK(MPI_Send(all, values * ranks, MPI_DOUBLE, 0, TAG_RANKS,
                           executor->ctx->control));
        MPI_CHECK(MPI_Send(each, kept * sizeof(double), MPI_BYTE, 0, TAG_EACH,
                           executor->ctx->control));
    }
    free(all);
    free(each);
}

void *iso_results_receive(const iso_context_t *ctx, int from, int tag,
                          size_t size, int *count)
{
    MPI_Status status;
    int bytes;
    MPI_CHECK(MPI_Probe(from, tag, ctx->control, &status));
    MPI_CHECK(MPI_Get_count(&status, MPI_BYTE, &bytes));
    void *found = iso_calloc(bytes, 1);
    MPI_CHECK(MPI_Recv(found, bytes, MPI_BYTE, from, tag, ctx->control,
                       MPI_STATUS_IGNORE));
    *count = bytes / size;
    return found;
}

iso_app_result_t iso_results_get(const iso_context_t *ctx, const iso_app_t *app,
                                 int root)
{
    iso_app_result_t r = own;
    int values = values_of(app);
    if (root != 0) {
        r.ranks = ISO_NEW(double, values *(size_t)app->ranks);
        iso_idle_recv(ctx, r.ranks, values * app->ranks, MPI_DOUBLE, root,
                      TAG_RANKS);
        r.each = iso_results_receive(ctx, root, TAG_EACH, sizeof(double),
                                     &r.each_count);
    }
    r.begin = INFINITY;
    r.end = -INFINITY;
    for (int k = 0; k < app->ranks; k++) {
        r.begin = fmin(r.begin, r.ranks[k * values + ISO_RANK_BEGIN]);
        r.end = fmax(r.end, r.ranks[k * values + ISO_RANK_END]);
    }
    return r;
}

/** Fraction of an application's time during which all others ran. */
static double overlap(const iso_launch_t *launch,
                      const iso_app_result_t *results, int app)
{
    double begin = results[app].begin, end = results[app].end;
    for (int k = 0; k < launch->count; k++) {
        begin = fmax(begin, results[launch->together[k]].begin);
        end = fmin(end, results[launch->together[k]].end);
    }
    double whole = results[app].end - results[app].begin;
    return whole > 0 ? fmax(0, end - begin) / whole : 1;
}

static void record_wall(iso_record_t *record, const iso_launch_t *launch,
                        int index, int app, const iso_app_result_t *results)
{
    const iso_app_result_t *r = &results[app];
    ISO_RECORD(record, "wall", ("launch", index), ("app", app),
               ("seconds", r->end - r->begin),
               ("iterations", (long)r->ranks[ISO_RANK_ITERATIONS]),
               ("overlap", overlap(launch, results, app)));
    iso_record_begin(record, "iterations");
    ISO_MEMBERS(record, ("launch", index), ("app", app));
    iso_record_doubles(record, "seconds", r->each, r->each_count);
    iso_record_end(record);
}

static void record_ranks(iso_record_t *record, const iso_app_t *app, int launch,
                         int index, const iso_app_result_t *result)
{
    for (int k = 0; k < app->ranks; k++) {
        const double *values = result->ranks + k * values_of(app);
        iso_record_begin(record, "rank_time");
        ISO_MEMBERS(
            record, ("launch", launch), ("app", index), ("rank", k),
            ("seconds", values[ISO_RANK_SECONDS]),
            ("communication", fmax(values[ISO_RANK_COMMUNICATION], 0.0)),
            ("asked", values[ISO_RANK_ASKED]),
            ("delivered", values[ISO_RANK_DELIVERED]),
            ("switches", (long)values[ISO_RANK_SWITCHES]));
        for (int q = 0; q < QUANTILES; q++) {
            if (values[ISO_RANK_QUANTILES + q] >= 0) {
                iso_record_double(record, quantiles[q].key,
                                  values[ISO_RANK_QUANTILES + q]);
            }
        }
        iso_record_end(record);
    }
}

static void record_phases(iso_record_t *record, const iso_app_t *app,
                          int launch, int index, const iso_app_result_t *result)
{
    for (int phase = 0; phase < app->phase_count; phase++) {
        double sum = 0, most = 0;
        for (int k = 0; k < app->ranks; k++) {
            const double *values = result->ranks + k * values_of(app);
            double seconds =
                values[ISO_RANK_VALUES + phase] / values[ISO_RANK_ITERATIONS];
            sum += seconds;
            most = fmax(most, seconds);
        }
        ISO_RECORD(record, "phase_time", ("launch", launch), ("app", index),
                   ("phase", phase), ("mean", sum / app->ranks), ("max", most));
    }
}

void iso_results_record(const iso_context_t *ctx, const iso_program_t *program,
                        int launch, const iso_app_result_t *results)
{
    const iso_launch_t *what = &program->launches[launch];
    for (int k = 0; k < what->count; k++) {
        int app = what->together[k];
        record_wall(ctx->record, what, launch, app, results);
        record_ranks(ctx->record, &program->apps[app], launch, app,
                     &results[app]);
        record_phases(ctx->record, &program->apps[app], launch, app,
                      &results[app]);
    }
    iso_record_flush(ctx->record);
}
