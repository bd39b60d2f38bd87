/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file clock.h
 * The clock of all measurements: MPI_Wtime, in seconds.
 *
 * MPI_Wtime and nothing finer, because it is the one clock that every MPI and
 * the SimGrid simulator agree on. What it can resolve is measured at the start
 * and recorded, so that a reader can judge a short sample.
 */
#ifndef ISO_CLOCK_H
#define ISO_CLOCK_H

#include <mpi.h>
#include <stdbool.h>

typedef struct iso_clock {
    double granularity; /**< smallest step it can show, seconds; 0: it stands
                             still between events, as in a simulator */
    double cost;        /**< time one reading takes, seconds */
    bool simulated;     /**< the time is a simulator's, not the machine's */
} iso_clock_t;

/** Now, in seconds since some moment in the past. */
static inline double iso_now(void)
{
    return MPI_Wtime();
}

/** Examine the clock. Needs MPI_Init; takes less than a millisecond. */
iso_clock_t iso_clock_examine(void);

/**
 * Operations to time as one sample, so that a sample lasts 100 ticks.
 *
 * @param clock    as examined
 * @param seconds  estimate of one operation
 * @return at least 1
 */
int iso_clock_batch(const iso_clock_t *clock, double seconds);

#endif
