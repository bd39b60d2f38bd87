/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L
#include "messages/idle.h"

#include "base/check.h"
#include "machine/heartbeat.h"

#include <time.h>

enum { MIN_SLEEP_NS = 20000, MAX_SLEEP_NS = 1000000 };

static MPI_Status nap_until_there(int source, int tag, MPI_Comm comm)
{
    struct timespec delay = {.tv_sec = 0, .tv_nsec = MIN_SLEEP_NS};
    for (;;) {
        int there = 0;
        MPI_Status found;
        MPI_CHECK(MPI_Iprobe(source, tag, comm, &there, &found));
        if (there) {
            return found;
        }
        nanosleep(&delay, NULL);
        if (2 * delay.tv_nsec <= MAX_SLEEP_NS) {
            delay.tv_nsec *= 2;
        }
    }
}

MPI_Status iso_idle_recv(const iso_context_t *ctx, void *buffer, int count,
                         MPI_Datatype type, int source, int tag)
{
    MPI_Status status;
    if (!ctx->clock.simulated) {
        /* From whom it is, and no longer MPI_ANY_SOURCE: MPICH 5.0.2 never ends
         * such a receive on a rank that shares its node with others if the
         * message has come from another node and was probed before. */
        source = nap_until_there(source, tag, ctx->control).MPI_SOURCE;
    }
    MPI_CHECK(
        MPI_Recv(buffer, count, type, source, tag, ctx->control, &status));
    iso_heartbeat_answered(source);
    return status;
}

void iso_signal(const iso_context_t *ctx, int rank, int tag)
{
    MPI_CHECK(MPI_Send(NULL, 0, MPI_BYTE, rank, tag, ctx->control));
}

void iso_await(const iso_context_t *ctx, int rank, int tag)
{
    iso_idle_recv(ctx, NULL, 0, MPI_BYTE, rank, tag);
}
