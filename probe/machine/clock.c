/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine/clock.h"

#include "base/check.h"

#include <math.h>

/** Clocks of processors may differ by less; a clock that is set back more often
 *  than this, by more, measures nothing. */
static const double LARGE = 1e-3;
enum { MOST_STEPS = 1000 };

#ifndef SMPI_HELPERS_H
_Thread_local
#endif
    iso_clock_state_t iso_clock_state;

double iso_clock_step(void)
{
    iso_clock_state_t *clock = &iso_clock_state;
    double back = clock->last - (MPI_Wtime() + clock->behind);
    if (back > 0) {
        clock->behind += back;
        clock->steps++;
        clock->large += back > LARGE;
    }
    if (clock->large > MOST_STEPS) {
        ISO_FAIL("MPI_Wtime runs backwards repeatedly");
    }
    return clock->last;
}

void iso_clock_void(double *seconds, long samples, long steps)
{
    for (long k = 0; k < samples && steps != iso_clock_state.steps; k++) {
        if (seconds[k] <= 0) {
            seconds[k] = -1;
        }
    }
}

long iso_clock_valid(double *seconds, long samples)
{
    long valid = 0;
    for (long k = 0; k < samples; k++) {
        if (seconds[k] >= 0) {
            seconds[valid++] = seconds[k];
        }
    }
    return valid;
}

enum { READINGS = 4096, TICKS_PER_SAMPLE = 100, MAX_BATCH = 10000 };

bool iso_in_simulator(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(version, &length);
    return strncmp(version, "SMPI", 4) == 0;
}

iso_clock_t iso_clock_examine(void)
{
    iso_clock_t clock = {0};
    double smallest = INFINITY;
    int repeated = 0;
    double first = iso_now(), last = first;
    for (int k = 0; k < READINGS; k++) {
        double now = iso_now();
        if (now == last) {
            repeated++;
        } else if (now - last < smallest) {
            smallest = now - last;
        }
        last = now;
    }
    clock.cost = (last - first) / READINGS;
    if (isfinite(smallest)) {
        /* Readings that never repeat show a clock finer than its own cost:
         * then the step seen is the cost, and MPI's word is taken. */
        double tick = MPI_Wtick();
        clock.granularity = repeated == 0 && tick < smallest ? tick : smallest;
    }

    clock.simulated = clock.granularity == 0 || iso_in_simulator();
    return clock;
}

int iso_clock_batch(const iso_clock_t *clock, double seconds)
{
    double wanted = TICKS_PER_SAMPLE * clock->granularity;
    if (seconds >= wanted) {
        return 1;
    }
    if (seconds * MAX_BATCH <= wanted) {
        return MAX_BATCH;
    }
    return (int)ceil(wanted / seconds);
}
