/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file start.h
 * The timed loops: all ranks start together, and each times itself.
 *
 *     --sync barrier            --sync window
 *     barrier                   wait until the agreed moment of the global
 *     start = now                 clock; a rank that is late voids the sample
 *     operation                 operation
 *     time = now - start        time = now - the agreed moment
 *
 * Leaving a barrier is not simultaneous, so with barrier a rank's time begins
 * when that rank has left it. With window all begin at one moment of a clock
 * that is as good as the "sync" records say. Moments follow each other at a
 * distance that is doubled when more than a tenth of the samples are void.
 *
 * Where only some ranks work, all others take part in the start, too, and then
 * sleep until those are done (barrier) or until the next task (window).
 */
#pragma once

#include "global_clock/sync.h"
#include "messages/operations.h"
#include "sampling/sweep.h"

/** Start mode and its state. */
typedef struct iso_start {
    const iso_context_t *ctx;
    iso_sync_t *sync; /**< NULL: start by barrier */
    double lead;      /**< at rank 0: seconds until the first agreed moment */
    double distance;  /**< at rank 0: between two of them, seconds */
    long voided, samples;
} iso_start_t;

/** What the calling rank does in a sample. */
typedef struct {
    void (*operate)(const iso_call_t *call);
    iso_call_t *calls; /**< one after the other */
    int count;         /**< of them; 0: it waits */
    bool rotating;     /**< each rank is the root in turn */
    /** At rank 0: whether a rank works; NULL: all do. */
    const bool *at_work;
    bool some_wait; /**< not all ranks work */
} iso_work_t;

/** Begin. Collective. @param window  by agreed moments, not by barrier */
void iso_start_begin(iso_start_t *start, const iso_context_t *ctx, bool window);

/** Release it; warns of void samples. Collective. */
void iso_start_end(iso_start_t *start);

/**
 * Take the samples of a task. Collective over ctx->comm.
 *
 * @param seconds  receives task->samples times of one operation; negative:
 *                 the sample is void
 */
void iso_start_run(iso_start_t *start, const iso_task_t *task,
                   const iso_work_t *work, double *seconds);

/** Root of a sample, counted from the first of its point. */
int iso_start_root(const iso_start_t *start, bool rotating, long long sample);

/** With agreed moments, at rank 0: increase their distance until few are
 * missed. */
void iso_start_adapt(iso_start_t *start, const iso_task_t *task, long voided,
                     double slowest);
