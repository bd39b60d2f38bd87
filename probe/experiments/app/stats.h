/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file stats.h
 * Per-rank statistics of one launch. Seconds.
 */
#pragma once

#include "experiments/app/program.h"

enum { ISO_MAX_STORED = 1000000 };

typedef struct {
    double begin, end; /**< of its first and last iteration, own clock */
    double computing;  /**< elapsed time of all computations */
    double requested, delivered;
    long iterations;
    double *phases; /**< time in each */
    double *each;   /**< of each iteration, the first ISO_MAX_STORED of them */
    long room, switches;
} iso_stats_t;

void iso_stats_init(iso_stats_t *stats, const iso_app_t *app);
void iso_stats_free(iso_stats_t *stats);

/** Reset, and begin a launch. */
void iso_stats_begin(iso_stats_t *stats, const iso_app_t *app, double now);

/** The end of an iteration. */
static inline void iso_stats_iteration(iso_stats_t *stats, double seconds)
{
    if (stats->iterations < stats->room) {
        stats->each[stats->iterations] = seconds;
    }
    stats->iterations++;
}

/** The end of the launch. */
void iso_stats_end(iso_stats_t *stats, double now);
