/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file recorder.h
 * The recording of every intercepted call: its start, its end and the
 * computation of the thread since its previous call, stored with an event.
 *
 *     iso_call_t call = iso_call_begin();
 *     if (iso_call_end(&call, PMPI_Send(...))) {
 *         iso_event_message(&call, ...);
 *     }
 *     return iso_call_done(&call);
 *
 * Nested calls, and calls before MPI_Init or after MPI_Finalize, are not
 * recorded.
 *
 * Computation is processor time of the thread. Reading it takes longer than
 * many calls, so wall-clock time is used for up to ISO_TRUST seconds after a
 * reading: a preempted thread is wrong by no more than that.
 */
#pragma once

#include "recorder/sequence.h"
#include "recorder/totals.h"

#include <mpi.h>

#define ISO_TRUST 5e-6

typedef struct iso_call {
    bool on;           /**< it is recorded */
    int code;          /**< that MPI returned */
    double begin, end; /**< MPI_Wtime */
    const void *from;  /**< where the program goes on after it */
    const void *frame; /**< of the stack */
} iso_call_t;

/** A thread that called MPI. */
typedef struct iso_thread {
    struct iso_thread *next; /**< that began earlier */
    int number;              /**< in the order of their first calls */
    bool inside;             /**< a call */
    double seen;             /**< MPI_Wtime at which `processor` was reckoned */
    double processor;        /**< time used by then, seconds */
    double guessed;          /**< of it, since the last reading */
    int readings;            /**< of the clock, since the last call ended */
    double gap; /**< computation since the last call of the sequence */
    iso_sequence_t sequence;
    long calls;
    long open; /**< requests that it began, less those that it completed */
    double communication, computation; /**< in calls, between them */
    double own;                        /**< spent recording */
} iso_thread_t;

/** What was recorded at this rank. */
typedef struct {
    double began, ended; /**< MPI_Wtime */
    bool partial;        /**< the program ended without MPI_Finalize */
    char *path;          /**< of the run file, at rank 0 */
    iso_thread_t *threads;
    iso_totals_t totals;
} iso_recording_t;

/** Write nothing: the program aborts. */
void iso_recorder_forget(void);

/** MPI 4 begins without MPI_Init, in a session: say that it is not recorded. */
void iso_recorder_session(void);

iso_call_t iso_call_begin_at(const void *from, const void *frame);

/** The begin of a call; evaluated in the intercepted function. */
#define iso_call_begin()                                                       \
    iso_call_begin_at(__builtin_return_address(0), __builtin_frame_address(0))

/** MPI returned @a code. @return whether to record the call; until
 * iso_call_done, one thread at a time */
bool iso_call_end(iso_call_t *call, int code);

/** Return to the program, with the code. */
int iso_call_done(iso_call_t *call);

/** Store a call as the next of its thread; one with ISO_ASIDE is only counted.
 */
void iso_event_store(iso_call_t *call, const iso_event_t *event);

/** This thread began requests, or completed them (below 0); whether it has any
 *  open. Other threads' come and go by chance. */
bool iso_thread_requests(long begun);

/** Count a call that is no part of the sequence, whatever it is. */
void iso_set_aside(iso_call_t *call, const iso_event_t *event);
