/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file timing.h
 * Where the time of a collective access goes at this rank, found from what the
 * library calls meanwhile.
 *
 * The library agrees on who accesses what (an Alltoall of counts, lists of
 * pieces, an Allreduce), and then works in rounds: an Alltoall of sizes, an
 * exchange (Isend, Irecv, Waitall), an access to the file. In an Alltoall or
 * Allreduce all ranks wait for the last, so these cut the time into slots that
 * all ranks have in common:
 *
 *     offsets     until the first round
 *     in a slot:  sync      time in the call that begins it
 *                 before    accessing the file, before any message
 *                 exchange  from the first Isend or Irecv to the last wait
 *                 after     accessing the file, after messages
 *
 * Without rounds, such as with collective buffering switched off, there is one
 * slot with what the file took.
 */
#pragma once

#include <mpi.h>
#include <stdbool.h>

enum { ISO_MAX_SLOTS = 1 << 14 }; /**< of one access */

typedef struct {
    float sync, before, exchange, after; /**< seconds */
} iso_slot_t;

typedef struct {
    double seconds;     /**< of the access */
    double offsets;     /**< seconds of it until the first round */
    double accessed;    /**< seconds of it in system calls on files */
    int rounds;         /**< exchanges after an Alltoall of sizes, or, without
                             these, all exchanges */
    bool messages_seen; /**< calls of the library were */
    bool file_seen;     /**< accesses to the file were */
    iso_slot_t *slots;
    int used, room;
    bool too_many; /**< slots: the parts are not known */
    /* how far it is */
    double begin, agreed, exchange_began, exchange_ended;
    int alltoalls, exchanges;
    bool in_rounds;
} iso_timing_t;

/** Nested calls. */
typedef enum iso_sync {
    ISO_ALLGATHER,
    ISO_ALLREDUCE,
    ISO_ALLTOALL,
} iso_sync_t;

/** The access that this thread is in; NULL if in none. */
extern __thread iso_timing_t *iso_timing
    __attribute__((tls_model("initial-exec")));

/** Begin: from now on, this thread is in an access. */
void iso_timing_begin(void);

/** End; the result is overwritten by the next access of this thread. */
iso_timing_t *iso_timing_end(void);

/** The last access of this thread. */
const iso_timing_t *iso_timing_last(void);

/** A call in which ranks wait for each other began and ended. */
void iso_timing_sync(iso_sync_t what, double begin, double end);

/** A message was begun at this time. */
void iso_timing_message(double begin);

/** Messages were waited for until this time. */
void iso_timing_waited(double end);

/** The file was accessed. */
void iso_timing_file(double begin, double end);
