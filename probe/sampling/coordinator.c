/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampling/coordinator.h"

#include "base/check.h"
#include "machine/heartbeat.h"
#include "messages/idle.h"

/* Far from the tags that experiments use for their own messages. */
enum { TAG_TASK = 1201, TAG_REPORT };

void iso_coordinator_serve(const iso_coordinator_t *c)
{
    void *task = iso_calloc(1, c->task_size);
    for (;;) {
        int received = 0;
        MPI_Status status = iso_idle_recv(c->ctx, task, (int)c->task_size,
                                          MPI_BYTE, MPI_ANY_SOURCE, TAG_TASK);
        MPI_CHECK(MPI_Get_count(&status, MPI_BYTE, &received));
        if (received == 0) { /* dismissed */
            free(task);
            return;
        }
        c->perform(c->self, task, status.MPI_SOURCE);
    }
}

void iso_coordinator_dispatch(const iso_coordinator_t *c, int rank,
                              const void *task)
{
    iso_heartbeat_expect(rank);
    MPI_CHECK(MPI_Send(task, (int)c->task_size, MPI_BYTE, rank, TAG_TASK,
                       c->ctx->control));
}

void iso_coordinator_dismiss(const iso_coordinator_t *c)
{
    for (int r = 1; r < c->ctx->size; r++) {
        iso_signal(c->ctx, r, TAG_TASK);
    }
}

void iso_coordinator_report(const iso_context_t *ctx, const double *values,
                            int count)
{
    MPI_CHECK(MPI_Send(values, count, MPI_DOUBLE, 0, TAG_REPORT, ctx->control));
}

void iso_coordinator_heartbeat(const iso_context_t *ctx)
{
    iso_signal(ctx, 0, TAG_REPORT);
}

void iso_coordinator_collect(const iso_context_t *ctx, int rank, double *values,
                             int count)
{
    int received = 0;
    while (received == 0) {
        MPI_Status status =
            iso_idle_recv(ctx, values, count, MPI_DOUBLE, rank, TAG_REPORT);
        MPI_CHECK(MPI_Get_count(&status, MPI_DOUBLE, &received));
        if (received == 0) { /* still working */
            iso_heartbeat_expect(status.MPI_SOURCE);
        }
    }
}
