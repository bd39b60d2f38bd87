/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * The clock on the wall is set back by an hour in each process, after some
 * readings; in ranks with MPI_Wtime, after ISO_WTIMES readings of that, as UCX
 * would wait an hour for its deadlines. Loaded before the C library and MPI.
 */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { BACK = 3600, READINGS = 50 };

double PMPI_Wtime(void) __attribute__((weak));

static atomic_long readings, by_mpi;
static long most = 1L << 40;

__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("ISO_WTIMES");
    most = text ? atol(text) : most;
}

int clock_gettime(clockid_t which, struct timespec *now)
{
    int failed = (int)syscall(SYS_clock_gettime, which, now);
    bool is_set = PMPI_Wtime ? by_mpi > most : ++readings > READINGS;
    if (failed == 0 && which == CLOCK_REALTIME && is_set) {
        now->tv_sec -= BACK;
    }
    return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec found;
    (void)zone;
    int failed = clock_gettime(CLOCK_REALTIME, &found);
    now->tv_sec = found.tv_sec;
    now->tv_usec = found.tv_nsec / 1000;
    return failed;
}

time_t time(time_t *where)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (where) {
        *where = now.tv_sec;
    }
    return now.tv_sec;
}

double MPI_Wtime(void)
{
    return PMPI_Wtime() - (++by_mpi > most ? BACK : 0);
}
