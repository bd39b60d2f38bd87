/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file star_points.h
 * Points to measure: all numbers of partners, or a few that determine a model,
 * including some with all nodes busy. Used by rank 0 alone, which records
 * unreachable points.
 */
#pragma once

#include "experiments/hotspot/star.h"

/** Limits from the options. */
typedef struct {
    long hot, max_intra, max_inter;
    const iso_sizes_t *sizes;
    bool intra_first, inter_first; /**< orders of posting, one or both */
    bool unequal;                  /**< also points where in and out differ */
} iso_star_wanted_t;

/** A list of points; the caller frees @a point. Zero before it is filled. */
typedef struct {
    iso_star_point_t *point;
    long count, capacity;
    long unreachable; /**< numbers of partners that there are too few ranks for
                       */
} iso_star_points_t;

/** Every number of partners inside the node and on other nodes. */
void iso_star_points_full(iso_star_points_t *points, const iso_star_t *star,
                          const iso_star_wanted_t *wanted);

/**
 * Few numbers each way: 0, 1, half and all that are in reach. Without partners
 * inside the node in all combinations, one node hot or all nodes busy; with
 * partners inside in some.
 */
void iso_star_points_coarse(iso_star_points_t *points, const iso_star_t *star,
                            const iso_star_wanted_t *wanted);
