/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file clock.h
 * The clock of all measurements: MPI_Wtime, in seconds.
 *
 * MPI_Wtime and nothing finer, because it is the one clock that every MPI and
 * the SimGrid simulator agree on. Its resolution is measured at the start and
 * recorded.
 *
 * In many libraries it is the wall clock, which may be set during a run. Here
 * it never runs backwards: it continues from the last value. A sample with
 * such a step lasts 0 s and is void.
 */
#pragma once

#include <mpi.h>
#include <stdbool.h>

typedef struct {
    double granularity; /**< resolution in seconds; 0: constant between events,
                           as in a simulator */
    double cost;        /**< time one reading takes, seconds */
    bool simulated;     /**< the time is a simulator's, not the machine's */
} iso_clock_t;

/** How far the clock is, and what was done to it. */
typedef struct {
    double last;   /**< what iso_now() said last */
    double behind; /**< what was added since MPI_Wtime ran backwards, seconds */
    long steps;    /**< how often it did */
    long large;    /**< how often by more than processors may differ */
} iso_clock_state_t;

/* Of each thread of a rank; SimGrid has only one. */
#ifdef SMPI_HELPERS_H
extern iso_clock_state_t iso_clock_state;
#else
extern _Thread_local iso_clock_state_t iso_clock_state;
#endif

/** Continue from the last value after MPI_Wtime ran backwards. */
double iso_clock_step(void);

/** Now, in seconds since some moment in the past. */
static inline double iso_now(void)
{
    double now = MPI_Wtime() + iso_clock_state.behind;
    if (now < iso_clock_state.last) {
        return iso_clock_step();
    }
    iso_clock_state.last = now;
    return now;
}

/**
 * Make those samples void, negative, in which the clock was set back.
 *
 * @param seconds  as measured
 * @param steps    iso_clock_state.steps before they were
 */
void iso_clock_void(double *seconds, long samples, long steps);

/** Leave out samples that are void. @return how many are left */
long iso_clock_valid(double *seconds, long samples);

/** Whether MPI is that of SimGrid. Needs no MPI_Init. */
bool iso_in_simulator(void);

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
