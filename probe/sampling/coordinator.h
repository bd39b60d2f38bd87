/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file coordinator.h
 * Coordinator/worker protocol: rank 0 dispatches tasks, idle ranks sleep.
 *
 *     rank 0                               every other rank
 *     dispatch to those who take part      serve: sleep until a task,
 *     do its own part                             perform it, report,
 *     collect what they report                    sleep again,
 *     ... dismiss all in the end                  until dismissed
 *
 * A task is a struct of the experiment's own without pointers; it travels as
 * bytes. Reports are doubles. Workers may dispatch tasks to each other, too.
 */
#pragma once

#include "experiment.h"

/** Tasks of an experiment and their execution. */
typedef struct {
    const iso_context_t *ctx;
    size_t task_size; /**< bytes of a task, at least 1 */
    void *self;       /**< the experiment's own */
    /** Perform a task of rank @a from; called by iso_coordinator_serve. */
    void (*perform)(void *self, const void *task, int from);
} iso_coordinator_t;

/** Sleep and perform tasks until dismissed. On every rank but 0. */
void iso_coordinator_serve(const iso_coordinator_t *coordinator);

/** Send a task to a rank. */
void iso_coordinator_dispatch(const iso_coordinator_t *coordinator, int rank,
                              const void *task);

/** At rank 0, in the end: let all others return from iso_coordinator_serve. */
void iso_coordinator_dismiss(const iso_coordinator_t *coordinator);

/** Report @a count values to rank 0. */
void iso_coordinator_report(const iso_context_t *ctx, const double *values,
                            int count);

/** Signal to rank 0 that a long task is still in progress. */
void iso_coordinator_heartbeat(const iso_context_t *ctx);

/**
 * At rank 0: sleep until a rank has reported @a count values, at least 1.
 *
 * @param rank  or MPI_ANY_SOURCE
 */
void iso_coordinator_collect(const iso_context_t *ctx, int rank, double *values,
                             int count);
