/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file event_args.h
 * Converts arguments of MPI calls to events of the current call. Between
 * iso_call_end and iso_call_done. Messages to or from MPI_PROC_NULL are
 * ignored.
 */
#pragma once

#include "recorder/communicators.h"
#include "recorder/recorder.h"

/** Bytes of elements; 0 of a datatype that does not count. */
int64_t iso_bytes(int64_t count, MPI_Datatype type);

/** Whether this rank is the root of a call. */
bool iso_is_root(int root, MPI_Comm comm);

/** Ranks that a rank exchanges blocks with. */
int iso_partners(MPI_Comm comm);

/** How a message is begun. */
typedef enum iso_start {
    ISO_NOW,   /**< the call does it */
    ISO_BEGUN, /**< a request completes it */
    ISO_LATER, /**< whenever a persistent request is started */
} iso_start_t;

/**
 * A send, or a receive that is posted, of at most so many bytes.
 *
 * @param rank     of the partner
 * @param request  of ISO_BEGUN and ISO_LATER
 */
void iso_event_message(iso_call_t *call, iso_op_t op, iso_start_t start,
                       int64_t bytes, int rank, MPI_Comm comm,
                       const MPI_Request *request);

/** A receive that is done; its size and source are those that came. */
void iso_event_received(iso_call_t *call, const MPI_Status *status, int source,
                        MPI_Comm comm);

/** Both in one call. @param status  NULL while it is not done */
void iso_event_exchange(iso_call_t *call, int64_t bytes, int to,
                        int64_t received, int source, MPI_Comm comm,
                        const MPI_Status *status, const MPI_Request *request);

/** A message was probed for. @param message  if it was matched, or NULL */
void iso_event_probe(iso_call_t *call, const MPI_Status *status, MPI_Comm comm,
                     const MPI_Message *message);

/** A matched message is received. @param request  if that was only begun */
void iso_event_matched(iso_call_t *call, MPI_Message message, int64_t bytes,
                       const MPI_Status *status, const MPI_Request *request);

/** A collective operation. @param op  the blocking one */
void iso_event_collective(iso_call_t *call, iso_op_t op, iso_start_t start,
                          int64_t bytes, int root, MPI_Comm comm,
                          const MPI_Request *request);

/** Persistent requests were started. */
void iso_event_starts(iso_call_t *call, int count, const MPI_Request *requests);

/**
 * Requests were completed.
 *
 * @param requests    as they were before the call
 * @param indices  of those complete, @a done of them; NULL: the first of them
 */
void iso_event_completed(iso_call_t *call, iso_op_t op,
                         const MPI_Request *requests, int count,
                         const int *indices, int done);

/** A call that is only counted. */
void iso_event_other(iso_call_t *call, iso_op_t op, int64_t bytes);
