/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file remote.h
 * Memory of all ranks of an application for the methods put and get.
 *
 * A rank puts data into the area that the receiver has for the message. It gets
 * data from the start of the sender's memory, where there is room for the
 * largest message that the sender gives.
 */
#pragma once

#include "experiments/app/executor.h"

static inline bool iso_remote_has(iso_method_t method)
{
    return method == ISO_METHOD_PUT || method == ISO_METHOD_GET;
}

/** Bytes of the largest message that others get from this rank. */
long long iso_remote_given(const iso_executor_t *executor);

/** Make @a bytes bytes accessible. Collective over the application.
 *  @return MPI_WIN_NULL if no phase puts or gets */
MPI_Win iso_remote_open(const iso_executor_t *executor, long long bytes);
void iso_remote_close(MPI_Win *remote);

/** Put the data of a message, or get them; return when they are there. */
void iso_remote_put(const iso_executor_t *executor,
                    const iso_channel_t *channel, int bytes, MPI_Win remote);
void iso_remote_get(const iso_channel_t *channel, char *into, int bytes,
                    MPI_Win remote);
