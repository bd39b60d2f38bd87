/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file computation.h
 * Synthetic computation: lets a given time pass.
 *
 * cpu    spins until the thread has used so much processor time
 *        (CLOCK_THREAD_CPUTIME_ID): takes longer where it shares a processor
 * spin   spins until so much time has passed (CLOCK_MONOTONIC): a rank that
 *        lost its processor stops at the same moment all the same
 * sleep  nanosleep, with a timer slack of 1 ns: leaves the processor to others
 *
 * The overhead of a spinning loop beyond the requested time is measured once
 * and subtracted. In a simulator "cpu" is work for its host, shared with
 * others on it, and the other two are a sleep; both take exactly the requested
 * time.
 */
#pragma once

#include <stdbool.h>

typedef enum iso_compute_mode {
    ISO_MODE_CPU,   /**< uses up processor time, feels contention */
    ISO_MODE_SPIN,  /**< until so much time has passed */
    ISO_MODE_SLEEP, /**< asleep */
    ISO_MODES,      /**< how many there are */
} iso_compute_mode_t;

/** Accuracy of a mode on this rank for @a requested requested seconds. */
typedef struct {
    double requested; /**< by each of the trials */
    double overhead;  /**< subtracted overhead, seconds */
    double median,
        p95; /**< of |delivered - requested| / requested after that */
} iso_delivery_t;

/** Measure the overhead of spinning. Takes some milliseconds. */
void iso_compute_calibrate(bool simulated);

/** Try a mode; not in a simulator. */
iso_delivery_t iso_compute_try(iso_compute_mode_t mode, double requested,
                               int trials);

/**
 * Compute. @return delivered seconds: processor time in mode cpu, else elapsed
 * time
 */
double iso_compute(iso_compute_mode_t mode, double seconds, bool simulated);
