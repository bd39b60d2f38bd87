/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file round_trip.h
 * Two ranks time round trips with each other, or what else the options of
 * transfer.h say:
 *
 *     for every message size in turn, pass after pass:
 *         i tells j how many operations follow; j says it is ready
 *         i: start = now; send to j; receive from j; sample = now - start
 *         j:              receive from i; send to i
 *         ISO_EACH_WAY: the same with i and j exchanged; a sample is the mean
 *                       of both directions
 *
 * Nobody else takes part, and no barrier is part of the time. The first
 * operations of a size are not timed. Samples shorter than 100 ticks of the
 * clock are made of several and divided by their number. After the deadline of
 * the pair, a size that has a sample takes no more.
 *
 * Two ranks that happen to be on one processor take turns instead of talking.
 * Before each pass one of them goes to another processor if it is not bound;
 * if none can, the result says so.
 *
 * With synchronised clocks j also stamps when each message came, and sends the
 * stamps back after the pass. A message from i to j took from the start of a
 * sample to its first stamp; one back from its last stamp to its end. Both are
 * wrong by the difference of the two clocks, with opposite signs.
 */
#pragma once

#include "global_clock/sync.h"
#include "messages/transfer.h"
#include "sampling/sampler.h"

/** The two directions of a pair, from the measuring rank and back. */
enum { ISO_FORWARD, ISO_REVERSE, ISO_WAYS };

/** What one rank needs to measure or answer round trips. */
typedef struct {
    const iso_context_t *ctx;
    const iso_sizes_t *sizes;
    iso_sync_t *sync; /**< clocks of one-way times, or NULL */
    iso_course_t course;
    bool ways_known; /**< each direction has times */
    iso_sampler_t ways[ISO_WAYS][ISO_MAX_SIZES]; /**< one-way times */
    iso_transfer_t transfer;
    iso_sampler_t samplers[ISO_MAX_SIZES];
    double *back;                   /**< times from the partner, of a pass */
    int batch[ISO_MAX_SIZES];       /**< operations per sample */
    double each[ISO_MAX_SIZES];     /**< seconds of a sample, as seen last */
    bool shared_cpu[ISO_MAX_SIZES]; /**< with the partner, at the last look */
    bool lowered[ISO_MAX_SIZES];    /**< repetitions, by the deadline */
    double said;                    /**< when rank 0 heard of this rank last */
    bool unconducted;               /**< rank 0 does not wait for this rank */
    double deadline;                /**< of the next pair, by iso_now */
} iso_round_trip_t;

/** What the measuring rank learns of one size: times of whole round trips, or
 *  what iso_transfer_quantity says. */
typedef struct {
    iso_summary_t summary;
    double ways[ISO_WAYS]; /**< median seconds one way; 0 where not known */
    double batch;          /**< operations per sample */
    double shared_cpu;     /**< 1 if both ranks were on one processor */
    double lowered;        /**< 1 if the deadline lowered the repetitions */
} iso_round_trip_result_t;

/** Collective. @param one_way  also measure one-way times of round trips */
void iso_round_trip_init(iso_round_trip_t *trip, const iso_context_t *ctx,
                         const iso_sizes_t *sizes, bool one_way);
void iso_round_trip_free(iso_round_trip_t *trip);

/**
 * Measure with a partner that is in iso_round_trip_answer.
 *
 * @param results  one for every size
 */
void iso_round_trip_measure(iso_round_trip_t *trip, int partner,
                            iso_round_trip_result_t *results);

/** Answer a partner until it has measured enough. */
void iso_round_trip_answer(iso_round_trip_t *trip, int partner);
