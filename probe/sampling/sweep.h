/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file sweep.h
 * How time depends on the message size: which sizes are measured, in what
 * order, how often, and when it is enough.
 *
 * Rank 0 conducts. A sweep has one or several subjects, for example pairs of
 * ranks or operations; a point is a subject at a size. Rank 0 tells the ranks
 * that take part what to do next, and all others nap:
 *
 *     pass after pass, until no point wants more repetitions:
 *         for every point in turn:
 *             tell its ranks:  size, samples, operations a sample
 *             they measure (iso_sweep_t.perform)
 *             rank 0 collects their times and writes a record a repetition
 *     with --bytes auto: halve the intervals in which the curve is not
 *         straight, and do the same with the new points
 *     points that are slower than both neighbours tell: measure them again
 *
 * Automatic sizes. The first points are equally spaced, or powers of 4 apart
 * if the range is wide. The middle of an interval is compared with the straight
 * line between its ends. If it is off by more than --tolerance of the line and
 * more than the 95 % intervals explain, both halves are looked at in the same
 * way, down to --smallest-gap. A jump, where the library changes its protocol,
 * thus costs two points for every halving.
 *
 * Time limit. With --time-limit the repetitions of a point are lowered, down to
 * 3, so that every point gets its share of the time; only if that is not
 * enough are points left out. Both are said in a warning.
 */
#ifndef ISO_SWEEP_H
#define ISO_SWEEP_H

#include "experiment.h"

/** What rank 0 asks the ranks of a subject to do. */
typedef struct iso_task {
    long long bytes;
    long long subject; /**< index, or ISO_SWEEP_END */
    long long samples;
    long long batch; /**< operations a sample */
    long long first; /**< samples of this point taken before */
} iso_task_t;

enum { ISO_SWEEP_END = -1 };

typedef struct iso_sweep iso_sweep_t;

/** An experiment that sweeps says who takes part and what is done. */
struct iso_sweep {
    const iso_context_t *ctx;
    void *self;   /**< the experiment's own */
    int subjects; /**< number of curves */
    const iso_sizes_t *(*sizes)(void *self, int subject);
    long long quantum; /**< sizes are multiples of this */

    /** Whether a rank takes part in a subject, and whether it reports times. */
    bool (*takes_part)(void *self, int subject, int rank);
    bool (*reports)(void *self, int subject, int rank);

    /**
     * Do the task; called on every rank that takes part.
     *
     * @param seconds  receives task->samples times on ranks that report: of
     *                 one operation; negative: the sample is void
     */
    void (*perform)(void *self, const iso_task_t *task, double *seconds);

    /**
     * Write members of one repetition other than bytes, repeat, seconds and
     * batch. At rank 0.
     *
     * @param times   of the ranks that report, in the order of ranks
     * @param sample  task->first for the first sample of the task
     */
    void (*record)(void *self, const iso_task_t *task, const double *times,
                   int reporters, long sample);

    /**
     * Told at rank 0 how many samples of a task were void, after each task;
     * may be NULL.
     */
    void (*heed)(void *self, const iso_task_t *task, long voided,
                 double slowest);
};

/** tolerance, smallest-gap, max-points, again, time-limit; to be listed with
 *  iso_sampler_options. */
extern const iso_option_t iso_sweep_options[];

/** Check these and the sampler's options. */
int iso_sweep_check(char *error);

/** Run a sweep; called on all ranks. */
iso_outcome_t iso_sweep_run(const iso_sweep_t *sweep);

#endif
