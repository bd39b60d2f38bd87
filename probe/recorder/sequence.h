/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file sequence.h
 * The calls of a thread in their order, folded while they come: two equal
 * neighbouring parts become a loop, one that follows its loop another round of
 * it; loops are parts, too. Folding loses only the times of single calls,
 * which are added up by position. Noeth, Ratn, Mueller, Schulz, de Supinski,
 * "ScalaTrace", JPDC 69 (2009), fold like this.
 *
 * Memory is bounded. When more than `limit` calls remain unfolded, they are
 * folded again without sizes, which are stored as sums, and with receives from
 * any source as such. If that is not enough, the sequence is dropped.
 */
#pragma once

#include "recorder/event.h"
#include "recorder/gap.h"

enum {
    ISO_WINDOW = 8192,  /**< longest part that is folded, in parts of parts */
    ISO_LIMIT = 16384,  /**< stored calls */
    ISO_ATTEMPTS = 32,  /**< places that are compared after each call */
    ISO_BUCKETS = 4096, /**< of the index of parts */
};

/** How much of each call is stored. */
typedef enum {
    ISO_EXACT,    /**< all */
    ISO_SIZELESS, /**< sizes are means, sources of any-source receives left out
                   */
    ISO_GIVEN_UP, /**< nothing */
} iso_detail_t;

/** A call, or a loop. */
typedef struct iso_node {
    uint32_t hash;           /**< of what it does */
    uint32_t tail;           /**< of the last node of a loop */
    uint64_t sum;            /**< of all nodes up to this one */
    uint64_t body_sum;       /**< of the body of a loop */
    int32_t same, same_tail; /**< index of the part before in the same bucket */
    int32_t length;          /**< nodes in the body of a loop; 0: a call */
    long count;              /**< rounds of a loop */
    struct iso_node **body;
    iso_event_t event;
    int site; /**< of the first of the calls */
    long calls;
    double seconds;         /**< in the call, summed */
    double bytes, received; /**< summed */
    iso_gap_t gap;
} iso_node_t;

typedef struct {
    iso_node_t **top;
    int used, room;
    int32_t *last, *last_loop; /**< index of the latest part, by bucket */
    iso_detail_t detail;
    long calls, limit; /**< nodes that are calls; most of them */
} iso_sequence_t;

void iso_sequence_begin(iso_sequence_t *sequence, long limit);

/**
 * Add a call.
 *
 * @param gap      computation before it, seconds
 * @param seconds  in it
 * @param site     its number, see sites.h
 */
void iso_sequence_add(iso_sequence_t *sequence, const iso_event_t *event,
                      double gap, double seconds, int site);

void iso_sequence_end(iso_sequence_t *sequence);
