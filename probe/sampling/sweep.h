/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file sweep.h
 * Sweep over message sizes: sizes, order, repetitions and stopping rule.
 *
 * A sweep has one or several subjects, for example pairs of ranks or
 * operations; a point is a subject at a size. Rank 0 coordinates
 * (coordinator.h):
 *
 *     pass after pass, until no point wants more repetitions:
 *         for every point in turn:
 *             dispatch to its ranks:  size, samples, operations a sample
 *             they measure (iso_sweep_t.perform)
 *             rank 0 collects their times and writes a record a repetition
 *     with --bytes auto: measure suspected bends again, together; halve
 *         the intervals on both sides of those that are real, and do the same
 *         with the new points
 *     measure outliers again: points that are slower than the line between
 *         their neighbours
 *
 * Automatic sizes (bends.h). The first points are equally spaced, or powers of
 * 4 apart if the range is wide, and the middles between them. Each point is
 * compared with the straight line between its neighbours. If it is off by more
 * than --tolerance of the line, the three are measured again, in turns: 6 to
 * 24 passes, until it is off to the same side in nearly all of them, by more
 * than the tolerance in the middle of them. Then both intervals are halved,
 * the largest bend first, down to --smallest-gap. A jump, where the library
 * changes its protocol, thus costs two points for every halving.
 *
 * Time limit. With --time-limit the repetitions of a point are lowered, down
 * to 3, so that every point gets its share of the time; only if that is not
 * enough are points left out. Both are said in a warning.
 *
 * A new sweep is one file: a table of options, perform, record, and
 *
 *     static iso_outcome_t run(iso_context_t *ctx)
 *     {
 *         iso_sweep_t sweep = {.ctx = ctx, .subjects = 1,
 *                              .sizes = &options.sizes,
 *                              .perform = perform, .record = record};
 *         return iso_sweep_run(&sweep);
 *     }
 *
 *     static const char *const by[] = {"p", NULL};
 *
 *     const iso_experiment_t iso_experiment_NAME = {
 *         .name = "NAME", .summary = "...", .kind = "sweep", .by = by,
 *         .options = all_options, .min_ranks = 2,
 *         .check = iso_sweep_check, .resolve = iso_sampler_resolve, .run = run,
 *     };
 *
 * whose all_options end with iso_sweep_options, iso_time_limit_options,
 * iso_sampler_options and NULL.
 */
#pragma once

#include "experiment.h"

/** Task for the ranks of a subject. */
typedef struct {
    long long bytes;
    long long subject; /**< index */
    long long samples;
    long long batch; /**< operations a sample */
    long long first; /**< samples of this point taken before */
} iso_task_t;

/** Callbacks of a sweeping experiment. */
typedef struct {
    const iso_context_t *ctx;
    void *self;               /**< the experiment's own */
    int subjects;             /**< number of curves */
    const iso_sizes_t *sizes; /**< of every subject */
    long long quantum;        /**< sizes are multiples of this; 0: of 1 */

    /** Whether a subject has no size, like a barrier; NULL: none of them. */
    bool (*has_no_size)(void *self, int subject);

    /** Whether a rank takes part in a subject; NULL: all do. */
    bool (*takes_part)(void *self, int subject, int rank);

    /** Whether a rank that takes part reports times; NULL: all do. */
    bool (*reports)(void *self, int subject, int rank);

    /** Times that a rank reports of each sample; NULL: 1. */
    int (*times_each)(void *self, int subject);

    /**
     * Do the task; called on every rank that takes part.
     *
     * @param seconds  receives task->samples times on ranks that report: of
     *                 one operation; negative: the sample is void; if there
     *                 are several of each sample, all first ones, all second
     *                 ones ...
     */
    void (*perform)(void *self, const iso_task_t *task, double *seconds);

    /**
     * Write members of one repetition other than bytes, repeat, seconds and
     * batch. At rank 0.
     *
     * @param times      of the ranks that report, in the order of ranks
     * @param reporters  number of times
     * @param sample  task->first for the first sample of the task
     */
    void (*record)(void *self, const iso_task_t *task, const double *times,
                   int reporters, long sample);

    /**
     * Called at rank 0 after each task with the number of void samples and the
     * time of the slowest; may be NULL.
     */
    void (*adapt)(void *self, const iso_task_t *task, long voided,
                  double slowest);
} iso_sweep_t;

/** tolerance, smallest-gap, max-points, retest. */
extern const iso_option_t iso_sweep_options[];

/** Check these and the sampler's options. */
int iso_sweep_check(char *error);

/** Run a sweep; called on all ranks. */
iso_outcome_t iso_sweep_run(iso_sweep_t *sweep);
