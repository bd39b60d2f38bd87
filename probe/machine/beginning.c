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

/* Open MPI 5 dies of a message that comes within MPI_Init (open-mpi/ompi, pull
 * request 13559), and ranks leave its last fence at different times: on hosts
 * with slow links within an eighth of what MPI_Init took. */
static void wait_for_others(double init_seconds)
{
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
    if (!iso_in_simulator()) {
        iso_sleep(init_seconds / 2);
    }
#else
    (void)init_seconds;
#endif
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
    double seconds = iso_clock_read(CLOCK_MONOTONIC) - start;
    wait_for_others(seconds);
    return iso_in_simulator() ? MPI_Wtime() : seconds;
}

double iso_beginning_finalize(void)
{
    double start = iso_clock_read(CLOCK_MONOTONIC);
    MPI_Finalize();
    return iso_in_simulator() ? -1 : iso_clock_read(CLOCK_MONOTONIC) - start;
}
