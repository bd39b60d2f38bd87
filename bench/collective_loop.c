/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file collective_loop.c
 * A program that knows nothing of Isochrone: how long operations take.
 *
 *     collective_loop REPEATS OPERATION:BYTES ...
 *
 * Prints for each operation its name, the bytes of a block, and the median over
 * the repetitions of the time of the slowest rank, in seconds. Ranks start
 * after a barrier; with COMMON_START at one moment of a clock that all of them
 * have, as in a simulation, and the time is that until the last one is done.
 */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int ranks;
static char *send, *receive;

static void call(const char *name, int bytes)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    if (strcmp(name, "bcast") == 0) {
        MPI_Bcast(receive, bytes, MPI_BYTE, 0, comm);
    } else if (strcmp(name, "gather") == 0) {
        MPI_Gather(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, 0, comm);
    } else if (strcmp(name, "scatter") == 0) {
        MPI_Scatter(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, 0, comm);
    } else if (strcmp(name, "reduce") == 0) {
        MPI_Reduce(send, receive, bytes / 8, MPI_DOUBLE, MPI_SUM, 0, comm);
    } else if (strcmp(name, "allreduce") == 0) {
        MPI_Allreduce(send, receive, bytes / 8, MPI_DOUBLE, MPI_SUM, comm);
    } else if (strcmp(name, "allgather") == 0) {
        MPI_Allgather(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, comm);
    } else if (strcmp(name, "alltoall") == 0) {
        MPI_Alltoall(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, comm);
    } else if (strcmp(name, "reduce_scatter_block") == 0) {
        MPI_Reduce_scatter_block(send, receive, bytes / 8, MPI_DOUBLE, MPI_SUM,
                                 comm);
    } else {
        MPI_Abort(comm, 2);
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double started(void)
{
#ifdef COMMON_START
    double now = MPI_Wtime(), at = 0.0;
    MPI_Allreduce(&now, &at, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    at += 1.0;
    double left = at - MPI_Wtime();
    struct timespec pause = {(time_t)left,
                             (long)((left - (double)(time_t)left) * 1e9)};
    nanosleep(&pause, NULL);
    return at;
#else
    return MPI_Wtime();
#endif
}

static double median(const char *name, int bytes, int repeats)
{
    double *seconds = calloc((size_t)repeats, sizeof(double));
    call(name, bytes);
    for (int k = 0; k < repeats; k++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double own = started();
        call(name, bytes);
        own = MPI_Wtime() - own;
        PMPI_Allreduce(&own, &seconds[k], 1, MPI_DOUBLE, MPI_MAX,
                       MPI_COMM_WORLD);
    }
    qsort(seconds, (size_t)repeats, sizeof(double), ascending);
    double middle = (seconds[(repeats - 1) / 2] + seconds[repeats / 2]) / 2;
    free(seconds);
    return middle;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int k = 2; k < argc; k++) {
        char *bytes = strchr(argv[k], ':');
        if (bytes == NULL) {
            MPI_Abort(MPI_COMM_WORLD, 2);
            return 2;
        }
        *bytes++ = '\0';
        size_t room = (size_t)atoi(bytes) * (size_t)ranks;
        send = calloc(room, 1);
        receive = calloc(room, 1);
        double seconds = median(argv[k], atoi(bytes), atoi(argv[1]));
        if (rank == 0) {
            printf("%s %s %.9f\n", argv[k], bytes, seconds);
            fflush(stdout);
        }
        free(send);
        free(receive);
    }
    MPI_Finalize();
    return 0;
}
