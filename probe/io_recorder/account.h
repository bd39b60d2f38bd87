/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file account.h
 * The seconds of every MPI-IO call of a rank: those that it waits for ranks
 * that enter the call later, those in which the file is accessed, and others.
 *
 * Of a collective call, with the times of all ranks on one clock (clocks.h):
 *
 *     waiting = latest entry - own entry, if the rank leaves after that entry
 *
 * If the latest rank was still in a collective call before, such as one that
 * writes for the others, what they wait for that counts for that kind of call.
 *
 *     access  = most seconds in system calls on files of any rank of the call,
 *               for the others wait for their aggregators
 *
 * Neither is longer than the call less what comes before it in this list.
 */
#pragma once

#include "recording/map.h"
#include "recording/output.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

enum { ISO_MAX_TIMED = 1 << 17 }; /**< collective calls of a rank; 6 MiB */

/** Kinds of calls. */
typedef enum iso_call {
    ISO_OPEN,
    ISO_CLOSE,
    ISO_SET_VIEW,
    ISO_SET_SIZE, /**< or preallocate */
    ISO_SYNC,
    ISO_COLLECTIVE,
    ISO_ICOLLECTIVE, /**< nonblocking: start, waiting and testing */
    ISO_ORDERED,
    ISO_INDEPENDENT, /**< from here on, ranks call alone */
    ISO_IINDEPENDENT,
    ISO_SHARED,
    ISO_CALLS
} iso_call_t;

/** How all ranks of a file call it: by the first of them, as it is numbered in
 *  MPI_COMM_WORLD, and how many files that one had opened as the first. */
typedef struct {
    int leader, number;
} iso_open_id_t;

/** Calls of one kind and direction to one file. */
typedef struct {
    int64_t calls, bytes;
    int64_t pieces; /**< contiguous ones, in the file */
    int64_t span;   /**< bytes from the first to the last of a call */
    int64_t empty;  /**< calls without data of this rank */
    double seconds, waiting, access;
    int64_t last; /**< calls that this rank entered last */
    double late;  /**< seconds after the mean of the other ranks, in these */
} iso_spent_t;

/** A collective call, or the completion of one, of this rank. */
typedef struct {
    iso_open_id_t file;
    int sequence; /**< among those of the file, the same at all ranks */
    unsigned char call, write;
    int index;            /**< among the files of this rank */
    bool enters;          /**< begins the call; others complete it */
    unsigned char before; /**< the call before it */
    double left;          /**< the end of that, if it was collective; or 0 */
    double begin, seconds, access;
} iso_timed_t;

struct iso_open_file; /* open_files.h */

/** An entry of a map: the number in the run file of a file. */
typedef struct {
    iso_key_t key; /**< leader, number */
    int number;
} iso_numbered_file_t;

typedef struct {
    iso_timed_t *timed;
    int used, room;
} iso_account_t;

/** Whether all ranks of the file make such a call. */
static inline bool iso_call_is_collective(iso_call_t call)
{
    return call < ISO_INDEPENDENT;
}

/** Add what was spent in other calls, or ranks. */
void iso_spent_add(iso_spent_t *sum, const iso_spent_t *more);

/** Add a collective call, if there is room. */
void iso_account_add(iso_account_t *account, const iso_timed_t *timed);

/**
 * Write what each rank spent on each file. Collective; the times are those of
 * the clock of rank 0.
 *
 * @param files     what this rank spent; gets how it divides
 * @param numbered  all files, at rank 0
 */
void iso_account_write(const iso_account_t *account,
                       struct iso_open_file *files, int count,
                       const iso_map_t *numbered, iso_output_t *output);
