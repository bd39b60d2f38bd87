/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file timeline.h
 * Timeline of one iteration of a rank.
 *
 * Sends and receives that are only begun are one event as long as nothing else
 * happens. At most ISO_MAX_EVENTS are recorded.
 */
#pragma once

#include "experiments/app/step.h"

enum { ISO_MAX_EVENTS = 4096 };

typedef struct iso_event {
    const iso_step_t *step;
    double begin, end; /**< own clock */
} iso_event_t;

typedef struct {
    iso_event_t *events;
    int count, room;
    long iteration; /**< recorded iteration; -1: none */
} iso_timeline_t;

void iso_timeline_init(iso_timeline_t *timeline, long steps);

void iso_timeline_add(iso_timeline_t *timeline, const iso_step_t *step,
                      double begin, double end);
