/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file timed_loop.c
 * Do the probe's timed loops cost anything? Two ranks run that of the latency
 * map and that of the size sweeps in turns with the barest ping-pong one can
 * write, and print the median round trips of all three:
 *
 *     mpiexec -n 2 timed_loop BYTES BLOCKS
 *     -> "bare SECONDS map SECONDS sweep SECONDS"
 */
#include "base/check.h"
#include "experiments/latency_map/round_trip.h"
#include "messages/transfer.h"

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

/** The loop of latency-map. */
static double map(int rank, iso_round_trip_t *trip)
{
    iso_round_trip_result_t result;
    if (rank != 0) {
        iso_round_trip_answer(trip, 0);
        return 0;
    }
    iso_round_trip_measure(trip, 1, &result);
    return result.summary.median;
}

/** The loop of point-to-point. */
static double sweep(int rank, iso_transfer_t *transfer, int bytes,
                    double *seconds)
{
    double ignored;
    iso_transfer_set(transfer, 1 - rank, bytes);
    iso_transfer_meet(transfer, rank == 0);
    if (rank != 0) {
        iso_transfer_answer(transfer, WARMUP + REPEATS);
        return 0;
    }
    iso_transfer_lead(transfer, 1, WARMUP, &ignored);
    iso_transfer_lead(transfer, REPEATS, 1, seconds);
    return 2 * median(seconds, REPEATS);
}

enum { BARE, MAP, SWEEP, LOOPS };

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    iso_context_t ctx = {.size = 2, .ranks = 2, .comm = MPI_COMM_WORLD};
    MPI_CHECK(MPI_Comm_rank(MPI_COMM_WORLD, &ctx.rank));
    MPI_CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &ctx.control));
    ctx.clock = iso_clock_examine();
    int bytes = argc > 1 ? atoi(argv[1]) : 64;
    int blocks = argc > 2 ? atoi(argv[2]) : 200;
    iso_sizes_t sizes = {.count = 1, .bytes = {bytes}};

    char error[ISO_ERROR_LENGTH];
    iso_round_trip_t trip;
    iso_transfer_t transfer;
    if (iso_options_reset(iso_sampler_options, error) ||
        iso_options_reset(iso_transfer_options, error) ||
        iso_sampler_check(error) || iso_transfer_check(&sizes, error)) {
        ISO_FAIL("%s", error);
    }
    iso_sampler_resolve(ctx.size);
    iso_round_trip_init(&trip, &ctx, &sizes, false);
    iso_transfer_init(&transfer, &ctx, bytes);
    size_t room = (size_t)bytes + 1;
    char *out = memset(iso_calloc(room, 1), 1, room);
    char *in = memset(iso_calloc(room, 1), 1, room);
    double seconds[REPEATS];
    double *medians = iso_calloc((size_t)(LOOPS * blocks), sizeof(double));
    for (int k = 0; k < LOOPS * blocks; k++) {
        /* 0 1 2, 1 2 0, 2 0 1, ...: a drift hits all alike */
        int block = k / LOOPS, which = (k + block) % LOOPS;
        double *found = &medians[which * blocks + block];
        if (which == BARE) {
            *found = bare(ctx.rank, out, in, bytes, seconds);
        } else if (which == MAP) {
            *found = map(ctx.rank, &trip);
        } else {
            *found = sweep(ctx.rank, &transfer, bytes, seconds);
        }
    }
    if (ctx.rank == 0) {
        printf("bare %.9g map %.9g sweep %.9g\n",
               median(medians + BARE * blocks, blocks),
               median(medians + MAP * blocks, blocks),
               median(medians + SWEEP * blocks, blocks));
    }
    iso_transfer_free(&transfer);
    iso_round_trip_free(&trip);
    free(medians);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
