/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file modes.h
 * The timed loops of a transfer between two ranks, one pair of loops a mode.
 */
#pragma once

#include "messages/transfer.h"

/** What one mode does; see the table in transfer.h. */
typedef struct iso_mode {
    const char *name;
    const char *quantity; /**< what the seconds are with a window of 1 */
    int parts; /**< of an operation, equal and one after the other; a sample is
                    the time of one part: a message of a round trip */
    int parts_window; /**< with a window: exchanges of windows, for example */
    void (*lead)(iso_transfer_t *t, long samples, long batch, double *seconds);
    void (*answer)(iso_transfer_t *t, long operations);
    void (*lead_window)(iso_transfer_t *t, long samples, long batch,
                        double *seconds);
    void (*answer_window)(iso_transfer_t *t, long operations);
} iso_mode_t;

/** All modes; the name NULL ends them. */
extern const iso_mode_t iso_modes[];

/** Whether only one of the two ranks takes part in a loop. */
bool iso_mode_one_sided(const iso_mode_t *mode);
