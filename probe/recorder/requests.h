/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file requests.h
 * Requests that are open or persistent, and messages that were probed for and
 * not received yet.
 */
#pragma once

#include "recorder/event.h"

#include <mpi.h>

void iso_requests_begin(void);
void iso_requests_end(void);

/** A request was made. MPICH gives the same handle to several that are done
 *  at once, so each handle is counted. */
void iso_requests_open(MPI_Request request);

/** A persistent request was made: what it will do whenever it is started. */
void iso_requests_keep(MPI_Request request, const iso_event_t *event);

/** A persistent request was started: what it does, or NULL if not known. */
const iso_event_t *iso_requests_start(MPI_Request request);

/** A request is complete; whether it was open. */
bool iso_requests_complete(MPI_Request request);

/** A request is released; how many of its handle were open. */
long iso_requests_forget(MPI_Request request);

/** Whether a request is open. */
bool iso_requests_is_open(MPI_Request request);

/** A message was matched: from which rank of the world. */
void iso_matched_store(MPI_Message message, int source);

/** A matched message is received: from which rank, or ISO_NONE. */
int iso_matched_take(MPI_Message message);
