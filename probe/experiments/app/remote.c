/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/app/remote.h"

#include "base/check.h"

long long iso_remote_given(const iso_executor_t *executor)
{
    double most = 0;
    for (size_t k = 0; k < executor->channel_count; k++) {
        const iso_channel_t *channel = &executor->channels[k];
        iso_method_t method = executor->own->phases[channel->phase].method;
        if (channel->out && method == ISO_METHOD_GET && channel->most > most) {
            most = channel->most;
        }
    }
    return (long long)most;
}

MPI_Win iso_remote_open(const iso_executor_t *executor, long long bytes)
{
    const iso_app_t *app = executor->own;
    MPI_Win remote = MPI_WIN_NULL;
    char *memory;
    bool needed = false;
    for (int k = 0; k < app->phase_count; k++) {
        needed = needed || iso_remote_has(app->phases[k].method);
    }
    if (needed) {
        MPI_CHECK(MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, executor->comm,
                                   &memory, &remote));
        memset(memory, 0, bytes);
        MPI_CHECK(MPI_Win_lock_all(MPI_MODE_NOCHECK, remote));
    }
    return remote;
}

void iso_remote_close(MPI_Win *remote)
{
    if (*remote != MPI_WIN_NULL) {
        MPI_CHECK(MPI_Win_unlock_all(*remote));
        MPI_CHECK(MPI_Win_free(remote));
    }
}

void iso_remote_put(const iso_executor_t *executor,
                    const iso_channel_t *channel, int bytes, MPI_Win remote)
{
    MPI_CHECK(MPI_Put(executor->send, bytes, MPI_BYTE, channel->peer,
                      channel->place, bytes, MPI_BYTE, remote));
    MPI_CHECK(MPI_Win_flush(channel->peer, remote));
}

void iso_remote_get(const iso_channel_t *channel, char *into, int bytes,
                    MPI_Win remote)
{
    MPI_CHECK(MPI_Get(into, bytes, MPI_BYTE, channel->peer, 0, bytes, MPI_BYTE,
                      remote));
    MPI_CHECK(MPI_Win_flush(channel->peer, remote));
}
