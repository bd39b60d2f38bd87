/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file methods.h
 * Transport methods of a message.
 */
#pragma once

#include "experiments/app/executor.h"

/** Send, and return when the buffer could be used again. */
void iso_move_send(iso_executor_t *executor, iso_channel_t *channel,
                   MPI_Comm comm, int tag, int bytes);

/** Send an empty message; its tag is the information. */
void iso_move_tell(iso_executor_t *executor, iso_channel_t *channel,
                   MPI_Comm comm, int tag);

/** Receive. */
void iso_move_recv(iso_executor_t *executor, iso_channel_t *channel,
                   MPI_Comm comm, int tag, int bytes);

/** Receive the first message on a tag, or from a rank on any tag. */
MPI_Status iso_move_any(iso_executor_t *executor, int source, MPI_Comm comm,
                        int tag, int most);

/** Get the data of a message received by iso_move_any. */
void iso_move_take(iso_executor_t *executor, iso_channel_t *channel, int bytes);

/** Start a send or receive; complete after iso_move_wait. */
void iso_move_isend(iso_executor_t *executor, iso_channel_t *channel, int tag,
                    int bytes);
void iso_move_irecv(iso_executor_t *executor, iso_channel_t *channel, int tag,
                    int bytes);
void iso_move_wait(iso_executor_t *executor);
