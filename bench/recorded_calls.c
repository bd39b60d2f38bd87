/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file recorded_calls.c
 * What recording adds to a call, on MPI_COMM_SELF, where the library does next
 * to nothing. MPI_ and PMPI_ functions are called in turns, of which only the
 * first are recorded.
 *
 *     recorded_calls ROUNDS
 *
 * Prints a line for each case: name, seconds that are added to a call (median
 * of 41 pairs), seconds of a call of the library and of the computation before
 * it. All are processor time: what else the machine does is not in them.
 */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { PAIRS = 41 };

static volatile double sink;
static char in[64], out[64];

/** Compute for about so long, in steps whose number is always the same. */
static void compute(long steps)
{
    for (long k = 0; k < steps; k++) {
        sink += 1;
    }
}

static void bcast(int recorded)
{
    (recorded ? MPI_Bcast : PMPI_Bcast)(out, 64, MPI_BYTE, 0, MPI_COMM_SELF);
}

/** Three calls. */
static void message(int recorded)
{
    MPI_Request requests[2];
    (recorded ? MPI_Irecv : PMPI_Irecv)(in, 64, MPI_BYTE, 0, 1, MPI_COMM_SELF,
                                        &requests[0]);
    (recorded ? MPI_Isend : PMPI_Isend)(out, 64, MPI_BYTE, 0, 1, MPI_COMM_SELF,
                                        &requests[1]);
    (recorded ? MPI_Waitall : PMPI_Waitall)(2, requests, MPI_STATUSES_IGNORE);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double seconds(void (*call)(int), int recorded, long steps, int rounds)
{
    double begin = now();
    for (int k = 0; k < rounds; k++) {
        compute(steps);
        call(recorded);
    }
    return (now() - begin) / rounds;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const char *name, void (*call)(int), int calls, long steps,
                    int rounds)
{
    double added[PAIRS], bare = 1;
    for (int k = 0; k < PAIRS; k++) {
        double with = seconds(call, 1, steps, rounds);
        double without = seconds(call, 0, steps, rounds);
        added[k] = (with - without) / calls;
        bare = without < bare ? without : bare;
    }
    qsort(added, PAIRS, sizeof(added[0]), compare);
    printf("%s %.3e %.3e\n", name, added[PAIRS / 2], bare / calls);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rounds = argc > 1 ? atoi(argv[1]) : 1000;
    double begin = now();
    compute(10000000);
    long steps = (long)(10000000 * 100e-6 / (now() - begin)); /* 100 us */
    measure("bcast-at-once", bcast, 1, 0, 10 * rounds);
    measure("message-at-once", message, 3, 0, 10 * rounds);
    measure("bcast-every-100-us", bcast, 1, steps, rounds);
    measure("message-every-100-us", message, 3, steps, rounds);
    MPI_Finalize();
    return 0;
}
