/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file stores.h
 * Storage of data exchanged outside messages: shared memory of a node, a file,
 * or a window of memory for MPI_Put and MPI_Get.
 *
 * Every message of an iteration has its own area, owned by its receiver. The
 * sender writes there and sends an empty message; the receiver reads, and
 * sends an empty message back, for which the sender waits before it writes
 * there again.
 *
 * MPI_Put writes into the area of the receiver; MPI_Get reads from the start
 * of the sender's memory, where it has room for the largest message.
 *
 * A file is new, and is removed in the end. In a simulator nothing is written
 * into a file or shared memory: the messages alone take time.
 */
#pragma once

#include "experiments/app/executor.h"

/** Open the storage of an application, and assign areas to channels. Collective
 * over its communicator. */
void iso_stores_open(iso_executor_t *executor);
void iso_stores_close(iso_executor_t *executor);

/** Put the data of a message in their place; wait until it is free. */
void iso_store_put(iso_executor_t *executor, iso_channel_t *channel, int bytes);

/** Copy data from their area into memory, and release the area. */
void iso_store_take(iso_executor_t *executor, iso_channel_t *channel,
                    char *into, int bytes);

/** After the last iteration: wait until all places are free. */
void iso_stores_settle(iso_executor_t *executor);
