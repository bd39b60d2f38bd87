/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "machine/computation.h"

#include "base/check.h"
#include "base/order.h"
#include "machine/system_clock.h"

#ifdef __linux__
#include <sys/prctl.h>
#endif

enum { TRIALS = 101, MAX_TRIALS = 1001 };

/** A calibration asks for so long: much more than a reading of a clock. */
static const double TRIAL = 20e-6;

/** Overhead of a mode beyond the time it measures, seconds. */
static struct {
    double late;    /**< mean delay until the end is detected */
    double outside; /**< spent before the first and after the last reading */
} cost[ISO_MODES];

static clockid_t clock_of(iso_compute_mode_t mode)
{
    return mode == ISO_MODE_CPU ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
}

/** Let simulated time pass. */
static void simulate(iso_compute_mode_t mode, double seconds)
{
#ifdef SMPI_H
    if (mode == ISO_MODE_CPU) {
        smpi_execute_benched(seconds);
        return;
    }
#endif
    iso_sleep(seconds);
}

/** Spin until the clock of the mode has advanced. @return by how much */
static double spin(clockid_t clock, double seconds)
{
    double begin = iso_clock_read(clock), now = begin;
    while (now - begin < seconds) {
        now = iso_clock_read(clock);
    }
    return now - begin;
}

double iso_compute(iso_compute_mode_t mode, double seconds, bool simulated)
{
    if (seconds <= 0) {
        return 0;
    }
    if (simulated) {
        simulate(mode, seconds);
        return seconds;
    }
    clockid_t clock = clock_of(mode);
    double spent = cost[mode].outside;
    if (mode == ISO_MODE_SLEEP) {
        double begin = iso_clock_read(clock);
        iso_sleep(seconds);
        return iso_clock_read(clock) - begin;
    }
    return spin(clock, seconds - spent - cost[mode].late) + spent;
}

static double quantile(double *values, int count, double part)
{
    iso_sort(values, count);
    return values[(int)(part * (count - 1))];
}

static void calibrate(iso_compute_mode_t mode)
{
    double late[TRIALS], outside[TRIALS];
    for (int k = 0; k < TRIALS; k++) {
        double begin = iso_clock_read(clock_of(mode));
        double inside = spin(clock_of(mode), TRIAL);
        outside[k] = iso_clock_read(clock_of(mode)) - begin - inside;
        late[k] = inside - TRIAL;
    }
    cost[mode].late = quantile(late, TRIALS, 0.5);
    /* The readings around it are one too many. */
    cost[mode].outside = quantile(outside, TRIALS, 0.5) / 2;
}

void iso_compute_calibrate(bool simulated)
{
    if (simulated) {
        return;
    }
#ifdef __linux__
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0); /* the default is 50 us */
#endif
    calibrate(ISO_MODE_CPU);
    calibrate(ISO_MODE_SPIN);
}

iso_delivery_t iso_compute_try(iso_compute_mode_t mode, double requested,
                               int trials)
{
    double wrong[MAX_TRIALS];
    iso_delivery_t found = {.requested = requested};
    trials = trials < MAX_TRIALS ? trials : MAX_TRIALS;
    for (int k = 0; k < trials; k++) {
        double begin = iso_clock_read(clock_of(mode));
        iso_compute(mode, requested, false);
        double end = iso_clock_read(clock_of(mode));
        double reading = cost[mode].outside; /* of the two around it */
        wrong[k] = fabs(end - begin - reading - requested) / requested;
    }
    found.overhead = cost[mode].late + cost[mode].outside;
    found.median = quantile(wrong, trials, 0.5);
    found.p95 = quantile(wrong, trials, 0.95);
    return found;
}
