/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file patterns.h
 * Operations of several ranks that MPI has no call for.
 *
 *     exchange        Irecv from and Isend to each neighbour; Waitall
 *     nonblocking     Irecv, Isend; Waitall later
 *     persistent      Startall, Waitall; before that Recv_init, Send_init
 *
 * One-sided forms move the blocks of an operation whose blocks are equal. Each
 * origin, the root if there is one, accesses all ranks and then flushes:
 *
 *     put             W Put, Win_flush_all
 *     put_local       W Put, Win_flush_local_all: its buffer is free
 *     get, get_local  W Get, the same
 *
 * Nobody tells a target that its data are there.
 */
#pragma once

#include "messages/operations.h"

/** Messages that a rank sends and receives: as many requests. */
static inline int iso_exchange_messages(const iso_call_t *call)
{
    return call->received->number + call->sent->number;
}

void iso_exchange(const iso_call_t *call);
void iso_exchange_begin(const iso_call_t *call);
void iso_exchange_init(const iso_call_t *call);
void iso_exchange_start(const iso_call_t *call);

void iso_put_all(const iso_call_t *call);
void iso_put_all_local(const iso_call_t *call);
void iso_get_all(const iso_call_t *call);
void iso_get_all_local(const iso_call_t *call);

/** Whether an operation can be done by puts, or by gets. */
bool iso_pattern_accesses(const iso_operation_t *operation, bool puts);

/** Expose the memory that a call puts to, or gets from, with a lock on all.
 *  Collective over its communicator. */
void iso_pattern_expose(const iso_call_t *call, bool puts);
void iso_pattern_withdraw(MPI_Win *window);

/** Have all accesses of all ranks complete. Collective, like the last. */
void iso_pattern_settle(const iso_call_t *call);
