/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file compute.h
 * Computing without computing anything: so much time passes.
 *
 * cpu    spins until the thread has used so much processor time
 *        (CLOCK_THREAD_CPUTIME_ID): takes longer where it shares a processor
 * spin   spins until so much time has passed (CLOCK_MONOTONIC): a rank that
 *        lost its processor stops at the same moment all the same
 * sleep  nanosleep, with a timer slack of 1 ns: leaves the processor to others
 *
 * What a spinning loop needs beyond the time asked for, to begin and to see
 * that it is over, is measured once and taken off. In a simulator "cpu" is work
 * for its host, shared with others on it, and the other two are a sleep; both
 * take exactly what is asked.
 */
#ifndef ISO_APP_COMPUTE_H
#define ISO_APP_COMPUTE_H

#include "experiment.h"
#include "experiments/app/step.h"

/** What a mode delivers on this rank, when @a asked seconds are asked for. */
typedef struct iso_delivery {
    double asked;       /**< by each of the trials */
    double overhead;    /**< taken off, seconds */
    double median, p95; /**< of |delivered - asked| / asked after that */
} iso_delivery_t;

/** Measure what spinning costs beyond what is asked. Some milliseconds. */
void iso_compute_calibrate(bool simulated);

/** Try a mode; not in a simulator. */
iso_delivery_t iso_compute_try(iso_mode_t mode, double asked, int trials);

/**
 * Let time pass.
 * @return what was delivered, seconds: of processor time in mode cpu, else of
 *         elapsed time
 */
double iso_compute(iso_mode_t mode, double seconds, bool simulated);

#endif
