/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file events.h
 * The timelines of all ranks of an application, in the run file.
 */
#pragma once

#include "experiments/app/executor.h"
#include "global_clock/sync.h"

/** Send rank 0 the timeline of this rank. At another rank than 0. */
void iso_events_hand_in(const iso_executor_t *executor, const iso_sync_t *sync);

/**
 * At rank 0: get those of an application, and write them.
 *
 * @param own        executor of rank 0, or NULL
 * @param job_ranks  ranks of the application in the job
 * @param begin      of the launch, global clock
 */
void iso_events_record(const iso_context_t *ctx, const iso_program_t *program,
                       int launch, int app, const iso_executor_t *own,
                       const iso_sync_t *sync, const int *job_ranks,
                       double begin);
