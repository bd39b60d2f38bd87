/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file bine.c
 * Broadcast and allgather over Bine trees, to compare grids with (De Sensi et
 * al. 2025, "Bine Trees: Enhancing Collective Operations by Optimizing
 * Communication Locality", arXiv 2508.17311). At step i of a butterfly of
 * 2^s ranks an even rank r meets r + d(i), an odd one r - d(i), with
 * d(i) = (1 - (-2)^(i+1)) / 3 = 1, -1, 3, -5, 11 ...: shorter than the
 * distances 1, 2, 4, 8, 16 of recursive doubling. The farthest comes first, so
 * that in an allgather the large blocks go to the next ranks, and in a
 * broadcast the few early messages cross the upper links.
 *
 *     bine REPEATS BYTES...    one line "OP BYTES SECONDS" each: the median
 *                                of the time of the slowest rank, after a
 *                                barrier, the result of each call checked
 *
 * If p is no power of two, the first ranks work in pairs of neighbours, of
 * which one stands for both.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAG = 1 };

/** What all operations need to know of the ranks. */
typedef struct butterfly {
    int size, rank;
    int steps;   /**< of 2^steps core ranks */
    int paired;  /**< ranks 0 ... 2 * paired - 1 work in pairs */
    int core;    /**< my number in the butterfly; -1: my neighbour has one */
    char *block; /**< room for the blocks of all ranks */
} butterfly_t;

static int rank_of(const butterfly_t *b, int core)
{
    return core < b->paired ? 2 * core : core + b->paired;
}

static int partner_of(const butterfly_t *b, int core, int step)
{
    int p = 1 << b->steps, power = -2;
    for (int k = 0; k < step; k++) {
        power *= -2;
    }
    int distance = (1 - power) / 3;
    int other = core % 2 == 0 ? core + distance : core - distance;
    return ((other % p) + p) % p;
}

/** Broadcast from rank 0. */
static void bcast(const butterfly_t *b, char *buffer, int bytes)
{
    if (b->core < 0) {
        MPI_Recv(buffer, bytes, MPI_BYTE, b->rank - 1, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        return;
    }
    bool has = b->core == 0;
    bool *reached = calloc((size_t)1 << b->steps, sizeof(*reached));
    reached[0] = true;
    for (int step = b->steps - 1; step >= 0; step--) {
        int partner = partner_of(b, b->core, step);
        if (has) {
            MPI_Send(buffer, bytes, MPI_BYTE, rank_of(b, partner), TAG,
                     MPI_COMM_WORLD);
        } else if (reached[partner]) {
            MPI_Recv(buffer, bytes, MPI_BYTE, rank_of(b, partner), TAG,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            has = true;
        }
        for (int k = 0; k < 1 << b->steps; k++) {
            reached[k] = reached[k] || reached[partner_of(b, k, step)];
        }
    }
    free(reached);
    if (b->rank < 2 * b->paired) {
        MPI_Send(buffer, bytes, MPI_BYTE, b->rank + 1, TAG, MPI_COMM_WORLD);
    }
}

/** The ranks whose blocks a core rank holds before a step, in their order. */
static int held(const butterfly_t *b, int core, int step, int *ranks)
{
    if (step == b->steps - 1) {
        ranks[0] = rank_of(b, core);
        ranks[1] = ranks[0] + 1;
        return core < b->paired ? 2 : 1;
    }
    int count = held(b, core, step + 1, ranks);
    return count +
           held(b, partner_of(b, core, step + 1), step + 1, ranks + count);
}

static void allgather(const butterfly_t *b, const char *mine, char *all,
                      int bytes, int *order)
{
    if (b->core < 0) {
        MPI_Send(mine, bytes, MPI_BYTE, b->rank - 1, TAG, MPI_COMM_WORLD);
        MPI_Recv(all, b->size * bytes, MPI_BYTE, b->rank - 1, TAG,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    int count = 1;
    memcpy(b->block, mine, (size_t)bytes);
    if (b->rank < 2 * b->paired) {
        MPI_Recv(b->block + bytes, bytes, MPI_BYTE, b->rank + 1, TAG,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        count = 2;
    }
    for (int step = b->steps - 1; step >= 0; step--) {
        int partner = partner_of(b, b->core, step);
        MPI_Status status;
        int got = 0;
        MPI_Sendrecv(b->block, count * bytes, MPI_BYTE, rank_of(b, partner),
                     TAG, b->block + (size_t)count * (size_t)bytes,
                     (b->size - count) * bytes, MPI_BYTE, rank_of(b, partner),
                     TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_BYTE, &got);
        count += got / bytes;
    }
    for (int k = 0; k < b->size; k++) {
        memcpy(all + (size_t)order[k] * (size_t)bytes,
               b->block + (size_t)k * (size_t)bytes, (size_t)bytes);
    }
    if (b->rank < 2 * b->paired) {
        MPI_Send(all, b->size * bytes, MPI_BYTE, b->rank + 1, TAG,
                 MPI_COMM_WORLD);
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void fail(const char *what)
{
    fprintf(stderr, "bine: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

/** Time one operation at one size; rank 0 prints. */
static void measure(const butterfly_t *b, bool gathers, int bytes, int repeats)
{
    size_t room = (size_t)bytes * (size_t)b->size;
    char *mine = malloc((size_t)bytes), *all = malloc(room);
    double *times = calloc((size_t)repeats, sizeof(*times));
    int *order = calloc((size_t)b->size + 1, sizeof(*order));
    if (gathers && b->core >= 0) {
        held(b, b->core, -1, order);
    }
    for (int k = -1; k < repeats; k++) { /* the first one warms up */
        memset(mine,
               gathers        ? b->rank + k
               : b->rank == 0 ? k
                              : -1,
               (size_t)bytes);
        memset(all, 0, room);
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        if (gathers) {
            allgather(b, mine, all, bytes, order);
        } else {
            bcast(b, mine, bytes);
        }
        double own = MPI_Wtime() - start, slowest = 0;
        MPI_Reduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        for (int r = 0; gathers && r < b->size; r++) {
            if (all[(size_t)(r + 1) * (size_t)bytes - 1] != (char)(r + k)) {
                fail("an allgather went wrong");
            }
        }
        if (!gathers && mine[bytes - 1] != (char)k) {
            fail("a broadcast went wrong");
        }
        times[k < 0 ? 0 : k] = slowest;
    }
    qsort(times, (size_t)repeats, sizeof(*times), ascending);
    if (b->rank == 0) {
        printf("%s %d %.9g\n", gathers ? "allgather" : "bcast", bytes,
               times[repeats / 2]);
    }
    free(order);
    free(times);
    free(all);
    free(mine);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    butterfly_t b = {0};
    MPI_Comm_size(MPI_COMM_WORLD, &b.size);
    MPI_Comm_rank(MPI_COMM_WORLD, &b.rank);
    while (2 << b.steps <= b.size) {
        b.steps++;
    }
    b.paired = b.size - (1 << b.steps);
    b.core = b.rank - b.paired;
    if (b.rank < 2 * b.paired) {
        b.core = b.rank % 2 == 0 ? b.rank / 2 : -1;
    }
    int repeats = argc > 1 ? atoi(argv[1]) : 0;
    if (repeats < 1) {
        fail("usage: bine REPEATS BYTES...");
    }
    for (int k = 2; k < argc; k++) {
        int bytes = atoi(argv[k]);
        if (bytes < 1 || bytes > (1 << 30) / b.size) {
            fail("bytes: from 1 to 1 GiB over the ranks");
        }
        b.block = malloc((size_t)b.size * (size_t)bytes);
        measure(&b, false, bytes, repeats);
        measure(&b, true, bytes, repeats);
        free(b.block);
    }
    MPI_Finalize();
    return 0;
}
