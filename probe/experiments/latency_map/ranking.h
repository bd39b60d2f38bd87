/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file ranking.h
 * The few pairs that stand out most among many, kept as they come by. Knows
 * nothing of MPI.
 */
#pragma once

#include "experiments/latency_map/schedule.h"

#include <stdbool.h>

typedef struct {
    int room, count;
    iso_pair_t *pairs; /**< worst first */
    double *badness;   /**< of each, descending */
} iso_ranking_t;

/** Make room for @a room pairs; 0 keeps none. */
void iso_ranking_init(iso_ranking_t *ranking, int room);
void iso_ranking_free(iso_ranking_t *ranking);

/** Keep a pair if it is among the worst. */
void iso_ranking_offer(iso_ranking_t *ranking, iso_pair_t pair, double badness);

/** Whether one of some rankings holds a pair. */
bool iso_rankings_hold(const iso_ranking_t *rankings, int count,
                       iso_pair_t pair);
