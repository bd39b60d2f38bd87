/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L
#include "machine/beginning.h"

#include "machine/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/** MPI_Wtime is only for use between MPI_Init and MPI_Finalize. In a simulator
 *  the time begins with 0. */
static double read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

double iso_beginning_since_launch(void)
{
    char named[256], here[256] = "";
    double launched;
    const char *text = getenv("ISOCHRONE_LAUNCHED");
    gethostname(here, sizeof(here) - 1);
    if (text == NULL || iso_in_simulator() ||
        sscanf(text, "%lf %255s", &launched, named) != 2 ||
        strcmp(named, here) != 0) {
        return -1;
    }
    return read_clock(CLOCK_REALTIME) - launched;
}

double iso_beginning_init(int *argc, char ***argv, int *level)
{
    double start = read_clock(CLOCK_MONOTONIC);
    if (level) {
        MPI_Init_thread(argc, argv, *level, level);
    } else {
        MPI_Init(argc, argv);
    }
    return iso_in_simulator() ? MPI_Wtime()
                              : read_clock(CLOCK_MONOTONIC) - start;
}

double iso_beginning_finalize(void)
{
    double start = read_clock(CLOCK_MONOTONIC);
    MPI_Finalize();
    return iso_in_simulator() ? -1 : read_clock(CLOCK_MONOTONIC) - start;
}
