/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/app/timeline.h"

#include "base/check.h"

void iso_timeline_init(iso_timeline_t *timeline, long steps)
{
    timeline->iteration = -1;
    timeline->count = 0;
    timeline->room = steps < ISO_MAX_EVENTS ? (int)steps : ISO_MAX_EVENTS;
    timeline->events =
        iso_calloc((size_t)timeline->room, sizeof(*timeline->events));
}

void iso_timeline_add(iso_timeline_t *timeline, const iso_step_t *step,
                      double begin, double end)
{
    iso_event_t *last = timeline->events + timeline->count;
    bool any = timeline->count > 0;
    bool begins = step->kind == ISO_STEP_ISEND || step->kind == ISO_STEP_IRECV;
    if (any && begins && last[-1].step->kind == step->kind &&
        last[-1].step->phase == step->phase) {
        last[-1].end = end;
    } else if (timeline->count < timeline->room) {
        *last = (iso_event_t){step, begin, end};
        timeline->count++;
    }
}
