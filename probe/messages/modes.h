/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file modes.h
 * The timed loops of a transfer between two ranks, one pair of loops a mode.
 * loops.h makes the loops; those of one-sided modes are in one_sided.h.
 */
#pragma once

#include "messages/transfer.h"

/** What one mode does; see the table in transfer.h. */
typedef struct iso_mode {
    const char *name;
    const char *quantity; /**< what the seconds are with a window of 1 */
    int parts; /**< of an operation, equal and one after the other; a sample is
                    the time of one part: a message of a round trip. 0:
                  one-sided (iso_one_sided_parts) */
    int parts_window; /**< with a window: exchanges of windows, for example */
    bool writes;      /**< the partner has the message in its memory then */
    bool reads;       /**< a rank gets what its partner had in its memory */
    bool adds;        /**< what is written is added to what was there */
    bool element;     /**< of 8 bytes, no other size */
    bool both_ways;   /**< both ranks do the same at once */
    bool fixed;       /**< a loop always uses the same buffers */
    bool partitions;  /**< messages are partitioned */
    void (*lead)(iso_transfer_t *t, long samples, long batch, double *seconds);
    void (*answer)(iso_transfer_t *t, long operations);
    /** Several messages in flight; NULL: there is but one. */
    void (*lead_window)(iso_transfer_t *t, long samples, long batch,
                        double *seconds);
    void (*answer_window)(iso_transfer_t *t, long operations);
    void (*call)(iso_transfer_t *t, long w); /**< one-sided: message w of a
                                                  window; else NULL */
} iso_mode_t;

/** All modes; the name NULL ends them. */
extern const iso_mode_t iso_modes[];
