/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file parts.h
 * What a collective access needed of each of its parts, from the times of all
 * its ranks. In a slot (timing.h) ranks work side by side until they wait for
 * each other, so that what counts is when the last one is through:
 *
 *     counts    += the least of sync: who comes last does not wait for others
 *     file      += the most of before, and the most of after
 *     exchange  += the most of before + exchange + after, less that of the file
 *
 * Where the ranks do the same at the same time, the exchange is the most that a
 * rank took. Where a rank still waits for a message while another one writes
 * (some MPIs finish a message only when the receiver calls MPI again), nothing
 * is counted twice.
 */
#pragma once

#include "io_recorder/timing.h"

/** A slot over all ranks. */
typedef struct {
    double sync;          /**< least; below 0: of no rank yet */
    double before, after; /**< most */
    double through;       /**< most of before + exchange + after */
} iso_slot_sum_t;

/** Seconds; they are no more than the access took. */
typedef struct {
    double offsets, counts, exchange, file;
} iso_parts_t;

/** Take in a slot of one more rank. */
void iso_slot_sum_add(iso_slot_sum_t *sum, const iso_slot_t *slot);

/**
 * Find the parts.
 *
 * @param least    time of a rank until the first round
 * @param seconds  of the access
 */
iso_parts_t iso_parts_of(const iso_slot_sum_t *slots, int count, double least,
                         double seconds);
