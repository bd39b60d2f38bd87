/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L
#include "machine/beginning.h"

#include "machine/clock.h"
#include "machine/system_clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    return iso_clock_read(CLOCK_REALTIME) - launched;
}

/* MPI_Wtime is only for use between MPI_Init and MPI_Finalize. In a simulator
 * the time begins with 0. */
double iso_beginning_init(int *argc, char ***argv, int *level)
{
    double start = iso_clock_read(CLOCK_MONOTONIC);
    if (level) {
        MPI_Init_thread(argc, argv, *level, level);
    } else {
        MPI_Init(argc, argv);
    }
    return iso_in_simulator() ? MPI_Wtime()
                              : iso_clock_read(CLOCK_MONOTONIC) - start;
}

double iso_beginning_finalize(void)
{
    double start = iso_clock_read(CLOCK_MONOTONIC);
    MPI_Finalize();
    return iso_in_simulator() ? -1 : iso_clock_read(CLOCK_MONOTONIC) - start;
}
