/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file ring.c
 * A new sweep, as short as one can be: every rank sends to the next one and
 * receives from the one before it. Tests add it to a copy of the probe.
 */
#include "base/check.h"
#include "experiment.h"
#include "runfile/record.h"
#include "sampling/sampler.h"
#include "sampling/sweep.h"
#include "sampling/time_limit.h"

static struct {
    iso_sizes_t sizes;
} options;

static const iso_option_t own_options[] = {
    {"bytes", ISO_OPTION_SWEEP, "SIZES", "8:64KiB:x2", "message sizes",
     &options.sizes},
    {0},
};

static const iso_option_t *const all_options[] = {
    own_options, iso_sweep_options, iso_time_limit_options, iso_sampler_options,
    NULL};

static void perform(void *self, const iso_task_t *task, double *seconds)
{
    const iso_context_t *ctx = self;
    int size = ctx->size, bytes = (int)task->bytes;
    int next = (ctx->rank + 1) % size, last = (ctx->rank + size - 1) % size;
    char *out = iso_calloc((size_t)bytes, 1), *in = iso_calloc(bytes, 1);
    for (long long k = 0; k < task->samples; k++) {
        double start = iso_now();
        for (long long b = 0; b < task->batch; b++) {
            MPI_Sendrecv(out, bytes, MPI_BYTE, next, 0, in, bytes, MPI_BYTE,
                         last, 0, ctx->comm, MPI_STATUS_IGNORE);
        }
        seconds[k] = (iso_now() - start) / (double)task->batch;
    }
    free(in);
    free(out);
}

static void record(void *self, const iso_task_t *task, const double *times,
                   int reporters, long sample)
{
    const iso_context_t *ctx = self;
    (void)task;
    (void)sample;
    iso_record_int(ctx->record, "p", ctx->size);
    iso_record_doubles(ctx->record, "times", times, reporters);
}

static iso_outcome_t run(iso_context_t *ctx)
{
    iso_sweep_t sweep = {
        .ctx = ctx,
        .self = ctx,
        .subjects = 1,
        .sizes = &options.sizes,
        .perform = perform,
        .record = record,
    };
    return iso_sweep_run(&sweep);
}

static const char *quantity(void)
{
    return "step round a ring, slowest rank";
}

static const char *const by[] = {"p", NULL};

const iso_experiment_t iso_experiment_ring = {
    .name = "ring",
    .summary = "messages round a ring of all ranks",
    .kind = "sweep",
    .by = by,
    .options = all_options,
    .min_ranks = 2,
    .check = iso_sweep_check,
    .resolve = iso_sampler_resolve,
    .quantity = quantity,
    .run = run,
};
