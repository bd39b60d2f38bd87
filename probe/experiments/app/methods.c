/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/app/methods.h"

#include "base/check.h"
#include "experiments/app/stores.h"

/** Whether the data travel in the messages. */
static bool travels(const iso_executor_t *executor,
                    const iso_channel_t *channel)
{
    return executor->own->phases[channel->phase].method == ISO_METHOD_MESSAGE;
}

/** Count bytes sent in the requested iterations. */
static void count(const iso_executor_t *executor, iso_channel_t *channel,
                  int bytes)
{
    if (executor->outer < executor->own->iterations) {
        channel->messages++;
        channel->bytes += bytes;
    }
}

/** Store the data for the receiver. @return bytes of the message */
static int prepare(iso_executor_t *executor, iso_channel_t *channel, int bytes)
{
    count(executor, channel, bytes);
    if (travels(executor, channel)) {
        return bytes;
    }
    iso_store_put(executor, channel, bytes);
    return 0;
}

void iso_move_send(iso_executor_t *executor, iso_channel_t *channel,
                   MPI_Comm comm, int tag, int bytes)
{
    int length = prepare(executor, channel, bytes);
    MPI_CHECK(
        MPI_Send(executor->send, length, MPI_BYTE, channel->peer, tag, comm));
}

void iso_move_tell(iso_executor_t *executor, iso_channel_t *channel,
                   MPI_Comm comm, int tag)
{
    count(executor, channel, 0);
    MPI_CHECK(MPI_Send(NULL, 0, MPI_BYTE, channel->peer, tag, comm));
}

void iso_move_recv(iso_executor_t *executor, iso_channel_t *channel,
                   MPI_Comm comm, int tag, int bytes)
{
    int length = travels(executor, channel) ? bytes : 0;
    MPI_CHECK(MPI_Recv(executor->receive, length, MPI_BYTE, channel->peer, tag,
                       comm, MPI_STATUS_IGNORE));
    iso_move_take(executor, channel, bytes);
}

MPI_Status iso_move_any(iso_executor_t *executor, int source, MPI_Comm comm,
                        int tag, int most)
{
    MPI_Status status;
    MPI_CHECK(MPI_Recv(executor->receive, most, MPI_BYTE, source, tag, comm,
                       &status));
    return status;
}

void iso_move_take(iso_executor_t *executor, iso_channel_t *channel, int bytes)
{
    if (!travels(executor, channel)) {
        iso_store_take(executor, channel, executor->receive, bytes);
    }
}

void iso_move_isend(iso_executor_t *executor, iso_channel_t *channel, int tag,
                    int bytes)
{
    int length = prepare(executor, channel, bytes);
    iso_begun_t *begun = &executor->begun[executor->begun_count];
    *begun = (iso_begun_t){channel, NULL, 0};
    MPI_CHECK(MPI_Isend(executor->send, length, MPI_BYTE, channel->peer, tag,
                        executor->comm,
                        &executor->requests[executor->begun_count++]));
}

void iso_move_irecv(iso_executor_t *executor, iso_channel_t *channel, int tag,
                    int bytes)
{
    int length = travels(executor, channel) ? bytes : 0;
    char *into = executor->pending + executor->arriving;
    executor->begun[executor->begun_count] =
        (iso_begun_t){channel, into, bytes};
    MPI_CHECK(MPI_Irecv(into, length, MPI_BYTE, channel->peer, tag,
                        executor->comm,
                        &executor->requests[executor->begun_count++]));
    executor->arriving += bytes;
}

void iso_move_wait(iso_executor_t *executor)
{
    MPI_CHECK(MPI_Waitall(executor->begun_count, executor->requests,
                          MPI_STATUSES_IGNORE));
    for (int k = 0; k < executor->begun_count; k++) {
        iso_begun_t *begun = &executor->begun[k];
        if (begun->into && !travels(executor, begun->channel)) {
            iso_store_take(executor, begun->channel, begun->into, begun->bytes);
        }
    }
    executor->begun_count = 0;
    executor->arriving = 0;
}
