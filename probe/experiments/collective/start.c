/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/collective/start.h"

#include "base/check.h"
#include "machine/own_collectives.h"
#include "messages/idle.h"

#include <math.h>

enum { TAG_DONE = 1401 };

/** Seconds between the agreement on a first moment and that moment, and
 *  between two moments. */
static const double MIN_LEAD = 500e-6, MAX_LEAD = 0.1;
static const double MIN_DISTANCE = 50e-6, MAX_DISTANCE = 1;

void iso_start_begin(iso_start_t *start, const iso_context_t *ctx, bool window)
{
    *start = (iso_start_t){.ctx = ctx, .lead = MIN_LEAD, .distance = 1e-3};
    if (window) {
        start->sync = iso_sync_create(ctx);
        if (ctx->rank == 0) {
            iso_sync_record(start->sync, ctx->record);
        }
    }
}

void iso_start_end(iso_start_t *start)
{
    if (start->ctx->rank == 0 && 10 * start->voided > start->samples) {
        iso_record_warning(start->ctx->record, "late-ranks",
                           "%ld of %ld samples discarded: a rank missed the "
                           "start time; use fewer ranks per node",
                           start->voided, start->samples);
    }
    if (start->sync) {
        iso_sync_free(start->sync);
    }
}

int iso_start_root(const iso_start_t *start, bool rotating, long long sample)
{
    return rotating ? (sample % start->ctx->size) : 0;
}

static void set_root(const iso_start_t *start, const iso_work_t *work,
                     long long sample)
{
    if (work->rotating) {
        work->calls[0].root = iso_start_root(start, true, sample);
    }
}

static inline void operate(const iso_work_t *work, long long batch)
{
    for (long long b = 0; b < batch; b++) {
        for (int k = 0; k < work->count; k++) {
            work->operate(&work->calls[k]);
        }
    }
}

/** Idle ranks sleep until all working ranks are done. */
static void wait_for_others(const iso_start_t *start, const iso_work_t *work)
{
    const iso_context_t *ctx = start->ctx;
    if (work->count == 0) {
        iso_await(ctx, 0, TAG_DONE);
        return;
    }
    int rank, size;
    MPI_CHECK(MPI_Comm_rank(work->calls[0].comm, &rank));
    MPI_CHECK(MPI_Comm_size(work->calls[0].comm, &size));
    iso_subset_barrier(work->calls[0].comm, NULL, size, rank);
    for (int r = 1; ctx->rank == 0 && r < ctx->size; r++) {
        if (!work->at_work[r]) {
            iso_signal(ctx, r, TAG_DONE);
        }
    }
}

/** The timed loop that starts by barrier. */
static void after_barrier(const iso_start_t *start, const iso_task_t *task,
                          const iso_work_t *work, double *seconds)
{
    for (long long k = 0; k < task->samples; k++) {
        set_root(start, work, task->first + k);
        MPI_Barrier(start->ctx->comm);
        double begin = iso_now();
        operate(work, task->batch);
        seconds[k] = iso_now() - begin;
        if (work->some_wait) {
            wait_for_others(start, work);
        }
    }
}

/** The timed loop that starts at agreed moments. */
static void at_moments(const iso_start_t *start, const iso_task_t *task,
                       const iso_work_t *work, double *seconds)
{
    const iso_sync_t *sync = start->sync;
    double agreed[2] = {0, start->distance};
    if (start->ctx->rank == 0) {
        agreed[0] = iso_sync_global(sync, iso_sync_now(sync)) + start->lead;
    }
    iso_plain_bcast(start->ctx->control, agreed, 2, MPI_DOUBLE);
    for (long long k = 0; work->count > 0 && k < task->samples; k++) {
        double moment = iso_sync_local(sync, agreed[0] + k * agreed[1]);
        set_root(start, work, task->first + k);
        bool late = iso_sync_now(sync) > moment;
        iso_sync_wait(sync, moment);
        operate(work, task->batch);
        seconds[k] = late ? -1 : fmax(0, iso_sync_now(sync) - moment);
    }
}

/** Synchronise the clocks again if they have aged; rank 0 knows. */
static void keep_in_step(iso_start_t *start)
{
    int aged = iso_sync_aged(start->sync);
    iso_plain_bcast(start->ctx->control, &aged, 1, MPI_INT);
    if (aged) {
        iso_sync_refresh(start->sync);
        if (start->ctx->rank == 0) {
            iso_sync_record(start->sync, start->ctx->record);
        }
    }
}

void iso_start_run(iso_start_t *start, const iso_task_t *task,
                   const iso_work_t *work, double *seconds)
{
    if (start->sync) {
        keep_in_step(start);
        at_moments(start, task, work, seconds);
    } else {
        after_barrier(start, task, work, seconds);
    }
    for (long long k = 0; k < task->samples; k++) {
        seconds[k] /= task->batch;
    }
}

void iso_start_adapt(iso_start_t *start, const iso_task_t *task, long voided,
                     double slowest)
{
    double needed = 1.5 * slowest * task->batch + MIN_DISTANCE;
    start->voided += voided;
    start->samples += task->samples;
    start->distance = fmax(MIN_DISTANCE, fmin(MAX_DISTANCE, needed));
    start->lead = fmax(MIN_LEAD, 0.9 * start->lead);
    if (10 * voided > task->samples) {
        start->distance = fmin(MAX_DISTANCE, 2 * start->distance);
        start->lead = fmin(MAX_LEAD, 2 * start->lead);
    }
}
