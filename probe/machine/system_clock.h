/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file system_clock.h
 * Clocks of the system, and sleep. Include after a definition of
 * _POSIX_C_SOURCE. In a simulator the system's clocks stand still, but sleep is
 * simulated.
 */
#pragma once

#include <math.h>
#include <time.h>

/** Seconds that a clock of the system shows. */
static inline double iso_clock_read(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

/** Sleep for so many seconds, even if signals interrupt. */
static inline void iso_sleep(double seconds)
{
    double whole = floor(seconds);
    struct timespec left = {(time_t)whole, (long)(1e9 * (seconds - whole))};
    while (nanosleep(&left, &left) != 0) {
        /* sleep the remaining time */
    }
}
