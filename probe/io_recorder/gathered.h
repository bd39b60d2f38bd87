/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file gathered.h
 * The accesses of all ranks put together at rank 0, one rank after the other,
 * so that memory grows with the accesses and not with ranks times accesses.
 */
#pragma once

#include "io_recorder/io_recorder.h"
#include "io_recorder/parts.h"

/** One collective access of all ranks of its file. */
typedef struct {
    iso_open_id_t file;
    int sequence;
    int ranks; /**< of which it came */
    bool write, placed, parts_known, too_many;
    char name[32];
    uint64_t hash;     /**< of the shapes of all ranks, up to one shift */
    int64_t reference; /**< offset of the first rank that has any pieces */
    bool has_reference;
    int64_t bytes, pieces;
    double seconds;
    double offsets;       /**< least time until the first round */
    double first, latest; /**< entries */
    double left;          /**< the latest rank, a collective call before */
    int rounds;
    iso_slot_sum_t *slots;
    int slot_count;
    int pattern;
} iso_gathered_call_t;

/** A file each time that it was opened, or, joined, all of these. */
typedef struct {
    iso_key_t key; /**< leader, number */
    int *ranks;    /**< that opened it together */
    int rank_count;
    int opens;
    int accesses; /**< collective ones */
    int joined;   /**< the first of those with the same name and ranks */
    char *name;
    char *filesystem;  /**< of `filesystem_of` */
    iso_hint_t *hints; /**< of the first time that it was accessed */
    int hint_count;
    /** Of all ranks, but seconds of the rank with most. */
    iso_spent_t independent[2];
    int independent_ranks[2];
} iso_opened_t;

typedef struct {
    iso_map_t opened;
    iso_map_t call_of; /**< calls by leader, number, sequence */
    iso_gathered_call_t *calls;
    int call_count, call_room;
    bool messages_seen, file_seen;
    int64_t calls_left_out;
} iso_gathered_t;

iso_gathered_t iso_gathered(void);

/** Add the packed data of a rank to the iso_gathered_t @a self. Called in rank
 *  order. */
void iso_gathered_take(void *self, int rank, const void *packed, size_t length);

/** All ranks were added: join files with the same name and ranks. Calls
 *  then are of the joined file. */
void iso_gathered_join(iso_gathered_t *all);

/** Return the file of a call. */
iso_opened_t *iso_gathered_file(const iso_gathered_t *all, iso_open_id_t file);

void iso_gathered_free(iso_gathered_t *all);
