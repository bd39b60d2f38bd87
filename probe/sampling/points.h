/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file points.h
 * The points of a sweep: times at message sizes, kept in the order of size,
 * and where a curve needs more of them. Knows nothing of MPI.
 */
#ifndef ISO_POINTS_H
#define ISO_POINTS_H

#include "sampling/sampler.h"

#include <stdbool.h>

/** One subject at one size. */
typedef struct iso_point {
    long long bytes;
    int subject;
    long batch;            /**< operations a sample */
    iso_sampler_t sampler; /**< its repetitions */
    iso_summary_t summary; /**< of them, if there are any */
    bool lowered;          /**< has fewer repetitions, for want of time */
    bool again;            /**< is being measured again */
    int void_visits;       /**< visits that brought no valid sample */
} iso_point_t;

/** A middle that is to be compared with the line between its ends. */
typedef struct iso_bend {
    int subject;
    long long left, middle, right; /**< sizes */
} iso_bend_t;

typedef struct iso_points {
    iso_point_t *items; /**< sorted by subject, then by size */
    int count, capacity;
    iso_bend_t *bends; /**< to look at when their points are measured */
    int bend_count, bend_capacity;
    bool simulated;
    bool full; /**< max_points kept it from refining */
} iso_points_t;

/** Where to refine. */
typedef struct iso_refinement {
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

/**
 * Look at all bends, and add points in the intervals that are not straight.
 *
 * @return number of new points; 0 when the curves are known
 */
int iso_points_refine(iso_points_t *points, const iso_refinement_t *refinement);

/**
 * Whether a point is an outlier: slower than the line between its neighbours by
 * more than a tenth and by more than the intervals explain. Then something
 * disturbed it, or the protocol changes there.
 */
bool iso_points_is_outlier(const iso_points_t *points, int index);

#endif
