/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file conductor.h
 * Rank 0 conducts, and all others sleep until they are told what to do.
 *
 *     rank 0                               every other rank
 *     tell those who take part             serve: sleep until told a task,
 *     do its own part                             perform it, report,
 *     collect what they report                    sleep again,
 *     ... dismiss all in the end                  until dismissed
 *
 * A task is a struct of the experiment's own without pointers; it travels as
 * bytes. What is reported are doubles. Ranks may tell each other tasks, too.
 */
#ifndef ISO_CONDUCTOR_H
#define ISO_CONDUCTOR_H

#include "experiment.h"

#include <stddef.h>

/** What the ranks of an experiment are told, and how they do it. */
typedef struct iso_conductor {
    const iso_context_t *ctx;
    size_t task_size; /**< bytes of a task, at least 1 */
    void *self;       /**< the experiment's own */
    /** Do what rank @a from has told; called where iso_conductor_serve is. */
    void (*perform)(void *self, const void *task, int from);
} iso_conductor_t;

/** Nap and perform tasks until dismissed. On every rank but 0. */
void iso_conductor_serve(const iso_conductor_t *conductor);

/** Tell a rank a task. */
void iso_conductor_tell(const iso_conductor_t *conductor, int rank,
                        const void *task);

/** At rank 0, in the end: let all others return from iso_conductor_serve. */
void iso_conductor_dismiss(const iso_conductor_t *conductor);

/** Report @a count values to rank 0. */
void iso_conductor_report(const iso_context_t *ctx, const double *values,
                          int count);

/** Let rank 0 know that what was told takes long, and goes on. */
void iso_conductor_go_on(const iso_context_t *ctx);

/**
 * At rank 0: sleep until a rank has reported @a count values, at least 1.
 *
 * @param rank  or MPI_ANY_SOURCE
 */
void iso_conductor_collect(const iso_context_t *ctx, int rank, double *values,
                           int count);

#endif
