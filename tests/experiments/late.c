/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file late.c
 * A sweep in which every sample of more than 8 bytes is void, as if a rank was
 * always late. Tests add it to a copy of the probe.
 */
#include "experiment.h"
#include "runfile/record.h"
#include "sampling/sampler.h"
#include "sampling/sweep.h"
#include "sampling/time_limit.h"

static const iso_sizes_t sizes = {.count = 3, .bytes = {8, 16, 32}};

static const iso_option_t *const all_options[] = {
    iso_sweep_options, iso_time_limit_options, iso_sampler_options, NULL};

static void perform(void *self, const iso_task_t *task, double *seconds)
{
    (void)self;
    for (long long k = 0; k < task->samples; k++) {
        seconds[k] = task->bytes > 8 ? -1 : 1e-6;
    }
}

static void record(void *self, const iso_task_t *task, const double *times,
                   int reporters, long sample)
{
    iso_context_t *ctx = self;
    (void)task;
    (void)times;
    (void)reporters;
    (void)sample;
    iso_record_int(ctx->record, "p", ctx->size);
}

static const char *const by[] = {"p", NULL};

static iso_outcome_t run(iso_context_t *ctx)
{
    iso_sweep_t sweep = {
        .ctx = ctx,
        .self = ctx,
        .subjects = 1,
        .sizes = &sizes,
        .perform = perform,
        .record = record,
    };
    return iso_sweep_run(&sweep);
}

const iso_experiment_t iso_experiment_late = {
    .name = "late",
    .summary = "samples that are void",
    .kind = "sweep",
    .by = by,
    .options = all_options,
    .min_ranks = 1,
    .check = iso_sweep_check,
    .resolve = iso_sampler_resolve,
    .run = run,
};
