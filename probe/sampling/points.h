/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file points.h
 * The points of a sweep: times at message sizes, kept in the order of size.
 * Where a curve needs more of them is in bends.h. Knows nothing of MPI.
 */
#pragma once

#include "sampling/sampler.h"

/** One subject at one size. */
typedef struct {
    long long bytes;
    int subject;
    long batch;            /**< operations a sample */
    iso_sampler_t sampler; /**< its repetitions */
    iso_summary_t summary; /**< of them, if there are any */
    bool lowered;          /**< has fewer repetitions, for want of time */
    bool again;            /**< is being measured again */
    bool questioned;       /**< a bend that it belongs to is being confirmed */
    long long left, right; /**< sizes between which it was last looked at */
    int void_visits;       /**< visits that brought no valid sample */
} iso_point_t;

/** Visits without a valid sample after which a point is given up. */
enum { ISO_MAX_VOID_VISITS = 20 };

/** Passes after which a bend that looked real is straight. */
enum { ISO_MAX_ROUNDS = 24 };

/** State of a bend. */
typedef enum {
    ISO_BEND_NEW,       /**< its points have just been measured */
    ISO_BEND_SUSPECTED, /**< it is measured again */
    ISO_BEND_STRAIGHT,
    ISO_BEND_REAL,
} iso_verdict_t;

/** A middle that is to be compared with the line between its ends. */
typedef struct {
    int subject;
    long long left, middle, right; /**< sizes */
    iso_verdict_t verdict;
    int rounds;                 /**< passes over its three points */
    double off[ISO_MAX_ROUNDS]; /**< how far it was off the line in each */
} iso_bend_t;

typedef struct {
    iso_point_t *items; /**< sorted by subject, then by size */
    int count, capacity;
    iso_bend_t *bends; /**< to look at when their points are measured */
    int bend_count, bend_capacity;
    bool simulated;
    bool full; /**< refinement stopped by max_points */
} iso_points_t;

/** Where to refine. */
typedef struct {
    double tolerance;       /**< relative distance from the line */
    long long smallest_gap; /**< bytes between two points */
    long long quantum;      /**< sizes are multiples of this */
    int max_points;         /**< of one subject */
} iso_refinement_t;

void iso_points_init(iso_points_t *points, bool simulated);
void iso_points_free(iso_points_t *points);

/** Add the sizes of a subject, or the first points of automatic sizes. */
void iso_points_add(iso_points_t *points, int subject, const iso_sizes_t *sizes,
                    const iso_refinement_t *refinement);

/** Index of a point, or of the place where it belongs. */
int iso_points_place(const iso_points_t *points, int subject, long long bytes);

/** Insert a point. @return whether it is new */
bool iso_points_insert(iso_points_t *points, int subject, long long bytes);

/** Number of points of a subject. */
int iso_points_of(const iso_points_t *points, int subject);

/** Whether two sizes are so near that none between them is looked at: by the
 *  smallest gap, or by 2 % of the larger one. */
bool iso_points_near(long long left, long long right,
                     const iso_refinement_t *refinement);

/** Round to a multiple of @a quantum. */
long long iso_points_round(double bytes, long long quantum);

/** Whether a point has a repetition. */
bool iso_points_measured(const iso_point_t *point);

/** Part of the way from left to right at which the middle lies. */
double iso_points_part(const iso_point_t *left, const iso_point_t *middle,
                       const iso_point_t *right);

/**
 * Whether a point is an outlier: slower than the line between its neighbours by
 * more than a tenth and by more than the intervals explain. Then something
 * disturbed it, or the protocol changes there.
 */
bool iso_points_is_outlier(const iso_points_t *points, int index);
