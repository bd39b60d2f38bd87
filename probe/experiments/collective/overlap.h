/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file overlap.h
 * How much of a nonblocking or persistent operation a computation hides.
 *
 *     pure:      begin the operation, complete it
 *     overall:   begin the operation           (post)
 *                compute for the time that pure took
 *                complete the operation        (complete)
 *
 * The computation uses up processor time (machine/computation.h), so that
 * what others take of the processor, such as a progress thread, is no part of
 * it. It takes as long as the median of the pure times of the task, on the
 * slowest rank. --progress says who lets the library work meanwhile: nobody,
 * the computation with MPI_Test at equal distances, or a thread that calls
 * MPI_Test all the time.
 */
#pragma once

#include "experiments/collective/start.h"

extern const iso_option_t iso_overlap_options[];

/** Seconds of an operation beside a computation, each of the slowest rank. */
typedef struct {
    double overall, compute, post, complete;
} iso_hidden_t;

/** State of the calling rank. */
typedef struct iso_overlap {
    const iso_context_t *ctx;
    iso_hidden_t *samples; /**< of the last task; complete at rank 0 */
    double compute;        /**< wanted, seconds */
    long long operations;  /**< done in the task, of all samples */
    long long batch;       /**< operations a sample */
    bool thread;           /**< lets the operation progress */
} iso_overlap_t;

/** Check --progress. @return 0, or -1 with one line in @a error */
int iso_overlap_check(char *error);

/** Threads of a rank that call MPI, as iso_experiment_t.threads. */
int iso_overlap_threads(void);

void iso_overlap_begin(iso_overlap_t *overlap, const iso_context_t *ctx);
void iso_overlap_end(iso_overlap_t *overlap);

/**
 * Take the samples of a task beside a computation. Collective over ctx->comm.
 *
 * @param seconds  the pure times; those of samples without a valid overall time
 *                 become negative
 */
void iso_overlap_run(iso_overlap_t *overlap, const iso_start_t *start,
                     const iso_task_t *task, const iso_work_t *work,
                     double *seconds);

/** Write the members of a sample of the last task. At rank 0. */
void iso_overlap_record(const iso_overlap_t *overlap, iso_record_t *record,
                        long sample);
