/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file totals.h
 * Totals of a rank's calls by operation and size, and by destination. Exact,
 * even if the sequence was dropped.
 */
#pragma once

#include "recorder/event.h"
#include "recording/map.h"

/** Calls of one operation, size and group: key a, b, c. */
typedef struct {
    iso_key_t key;
    int64_t calls;
    double bytes;         /**< summed; the size itself is the key's */
    double seconds, most; /**< in the calls: summed, and the longest */
} iso_operation_total_t;

/** Messages to one rank: key a. */
typedef struct {
    iso_key_t key;
    int64_t messages;
    double bytes, seconds;
} iso_edge_total_t;

typedef struct {
    iso_map_t operations, edges;
    int rounded; /**< whether sizes are rounded up to powers of two */
} iso_totals_t;

iso_totals_t iso_totals(void);

/** Count a call that took @a seconds. */
void iso_totals_add(iso_totals_t *totals, const iso_event_t *event,
                    double seconds);

/** Add a total of another rank, whose group has the number @a group here. */
void iso_totals_merge(iso_totals_t *totals, const iso_operation_total_t *other,
                      int64_t group);

void iso_totals_free(iso_totals_t *totals);
