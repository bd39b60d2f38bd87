/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file timed_loop.c
 * Does the probe's timed loop cost anything? Two ranks run it in turns with
 * the barest ping-pong one can write, and print the medians of both:
 *
 *     mpiexec -n 2 timed_loop BYTES BLOCKS
 *     -> "bare SECONDS probe SECONDS"
 */
#include "check.h"
#include "round_trip.h"

#include <stdlib.h>
#include <string.h>

enum { REPEATS = 100, WARMUP = 5, TAG = 7 };

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof(*values), compare);
    return values[n / 2];
}

/** The barest ping-pong; like the probe, OSU and IMB it sends from one buffer
 *  and receives into another. */
static double bare(int rank, char *out, char *in, int bytes, double *seconds)
{
    for (int k = -WARMUP; k < REPEATS; k++) {
        if (rank == 0) {
            double start = MPI_Wtime();
            MPI_Send(out, bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
            MPI_Recv(in, bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            if (k >= 0) {
                seconds[k] = MPI_Wtime() - start;
            }
        } else {
            MPI_Recv(in, bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
            MPI_Send(out, bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
        }
    }
    return rank == 0 ? median(seconds, REPEATS) : 0;
}

static double probe(int rank, iso_round_trip_t *trip)
{
    iso_round_trip_result_t result;
    if (rank != 0) {
        iso_round_trip_answer(trip, 0);
        return 0;
    }
    iso_round_trip_measure(trip, 1, &result);
    return result.summary.median;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    iso_context_t ctx = {.size = 2, .ranks = 2, .comm = MPI_COMM_WORLD};
    MPI_CHECK(MPI_Comm_rank(MPI_COMM_WORLD, &ctx.rank));
    MPI_CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &ctx.control));
    ctx.clock = iso_clock_examine();
    iso_sizes_t sizes = {.count = 1, .bytes = {argc > 1 ? atoi(argv[1]) : 64}};
    int blocks = argc > 2 ? atoi(argv[2]) : 200;

    char error[ISO_ERROR_LENGTH];
    iso_round_trip_t trip;
    if (iso_options_reset(iso_sampler_options, error) ||
        iso_sampler_check(error)) {
        ISO_FAIL("%s", error);
    }
    iso_round_trip_init(&trip, &ctx, &sizes);
    size_t room = (size_t)sizes.bytes[0] + 1;
    char *out = memset(iso_calloc(room, 1), 1, room);
    char *in = memset(iso_calloc(room, 1), 1, room);
    double seconds[REPEATS];
    double *medians[2] = {iso_calloc((size_t)blocks, sizeof(double)),
                          iso_calloc((size_t)blocks, sizeof(double))};
    for (int k = 0; k < 2 * blocks; k++) {
        /* 0 1 1 0 0 1 1 0: a drift hits both alike */
        int which = ((k + 1) / 2) % 2;
        double found = which ? probe(ctx.rank, &trip)
                             : bare(ctx.rank, out, in, sizes.bytes[0], seconds);
        medians[which][k / 2] = found;
    }
    if (ctx.rank == 0) {
        printf("bare %.9g probe %.9g\n", median(medians[0], blocks),
               median(medians[1], blocks));
    }
    iso_round_trip_free(&trip);
    free(medians[0]);
    free(medians[1]);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
