/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file gap.h
 * Computation before a call, at one place of a program: count, sum, extremes,
 * and how many lie in each tenth of a decade.
 *
 * The first call of a loop is reached in several ways: from what is before the
 * loop, and from the end of its body, whose computation is another one. Each
 * has gaps of its own, in a list: from before all loops, from the end of the
 * innermost loop that begins with this call, from the end of the next one …
 */
#pragma once

#include <stdint.h>

/** Gaps of 10**(tenth/10) to 10**((tenth+1)/10) seconds. */
typedef struct {
    int32_t tenth;
    uint32_t count;
} iso_tenth_t;

typedef struct iso_gap {
    long count;
    double total, least, most; /**< seconds */
    iso_tenth_t *tenths;       /**< NULL while there is only one gap */
    int used, room;            /**< of `tenths` */
    struct iso_gap *outer;     /**< from the end of the next loop, or NULL */
} iso_gap_t;

/** The one gap of a call, seconds. */
iso_gap_t iso_gap(double seconds);

/** The tenth of a decade a gap lies in; below a nanosecond as a nanosecond. */
int iso_gap_tenth(double seconds);

/** Add the gaps of another list, all those of one way to those of the same. */
void iso_gap_merge(iso_gap_t *gap, const iso_gap_t *other);

/**
 * Add the gaps of another list, whose first way becomes way @a level: what was
 * reached from before is now reached from the end of a loop.
 */
void iso_gap_merge_again(iso_gap_t *gap, const iso_gap_t *other, int level);

/** Add the gaps of way @a level to those of the way before, and remove it. */
void iso_gap_join(iso_gap_t *gap, int level);

/** Release what belongs to it, not itself. */
void iso_gap_free(iso_gap_t *gap);
