/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/app/events.h"

#include "base/check.h"
#include "experiments/app/results.h"

#include <math.h>

enum { TAG_EVENTS = 8801 };

/** An event as it travels. */
struct event {
    int phase;
    char what[28];
    double begin, end; /**< global clock */
};

static struct event *own_events(const iso_executor_t *executor,
                                const iso_sync_t *sync)
{
    const iso_timeline_t *timeline = &executor->timeline;
    struct event *events = ISO_NEW(struct event, timeline->count);
    for (int k = 0; k < timeline->count; k++) {
        const iso_event_t *event = &timeline->events[k];
        events[k].phase = event->step->phase;
        snprintf(events[k].what, sizeof(events[k].what), "%s",
                 iso_step_name(event->step));
        events[k].begin = iso_sync_global(sync, event->begin);
        events[k].end = iso_sync_global(sync, event->end);
    }
    return events;
}

void iso_events_hand_in(const iso_executor_t *executor, const iso_sync_t *sync)
{
    struct event *events = own_events(executor, sync);
    int bytes = executor->timeline.count * sizeof(*events);
    MPI_CHECK(MPI_Send(events, bytes, MPI_BYTE, 0, TAG_EVENTS,
                       executor->ctx->control));
    free(events);
}

void iso_events_record(const iso_context_t *ctx, const iso_program_t *program,
                       int launch, int app, const iso_executor_t *own,
                       const iso_sync_t *sync, const int *job_ranks,
                       double begin)
{
    for (int r = 0; r < program->apps[app].ranks; r++) {
        struct event *events;
        int count;
        if (job_ranks[r] == 0) {
            events = own_events(own, sync);
            count = own->timeline.count;
        } else {
            events = iso_results_receive(ctx, job_ranks[r], TAG_EVENTS,
                                         sizeof(*events), &count);
        }
        for (int k = 0; k < count; k++) {
            ISO_RECORD(ctx->record, "event", ("launch", launch), ("app", app),
                       ("rank", r), ("phase", events[k].phase),
                       ("what", events[k].what),
                       ("begin", fmax(0, events[k].begin - begin)),
                       ("end", fmax(0, events[k].end - begin)));
        }
        free(events);
    }
}
