/* SPDX-License-Identifier: BSD-3-Clause */
/* Five styles of parallel programs: styles stencil|wavefront|transpose|cg|farm.
 *
 * Compiled with -DSIM for SimGrid, where work is so many operations of a host
 * that does 1e9 a second; elsewhere it is processor time. Rank 0 prints the
 * time of the slowest rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef SIM
#include <smpi/smpi.h>
static void work(double seconds)
{
    smpi_execute_flops(seconds * 1e9);
}
#else
#include <time.h>
static double used(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static void work(double seconds)
{
    double end = used() + seconds;
    while (used() < end) {
    }
}
#endif

enum { MOST = 64 };
static char out[4 << 20], in[4 << 20];
static int rank, ranks;

/* Between 0 and 1, the same wherever it is asked for. */
static double hashed(unsigned a, unsigned b)
{
    unsigned x = a * 2654435761u + b * 40503u + 12345u;
    x ^= x >> 15;
    x *= 2246822519u;
    x ^= x >> 13;
    x *= 3266489917u;
    x ^= x >> 16;
    return x / 4294967296.0;
}

static void stencil(void)
{
    int dims[3] = {0, 0, 0}, periods[3] = {0, 0, 0}, side[3], n = 120;
    MPI_Comm grid;
    MPI_Dims_create(ranks, 3, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &grid);
    double cells = 1;
    for (int d = 0; d < 3; d++) {
        side[d] = n / dims[d];
        cells *= side[d];
    }
    for (int step = 0; step < 50; step++) {
        MPI_Request requests[12];
        int count = 0;
        for (int d = 0; d < 3; d++) {
            int low, high, bytes = (int)(cells / side[d]) * 8;
            MPI_Cart_shift(grid, d, 1, &low, &high);
            MPI_Irecv(in, bytes, MPI_BYTE, low, d, grid, &requests[count++]);
            MPI_Irecv(in, bytes, MPI_BYTE, high, d, grid, &requests[count++]);
            MPI_Isend(out, bytes, MPI_BYTE, high, d, grid, &requests[count++]);
            MPI_Isend(out, bytes, MPI_BYTE, low, d, grid, &requests[count++]);
        }
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
        work(cells * 4e-9);
        if (step % 5 == 4) {
            MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, grid);
        }
    }
}

static void wavefront(void)
{
    int dims[2] = {0, 0}, periods[2] = {0, 0}, at[2], blocks = 5;
    MPI_Comm grid;
    MPI_Dims_create(ranks, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Cart_coords(grid, rank, 2, at);
    int x = 240 / dims[0], y = 240 / dims[1];
    for (int sweep = 0; sweep < 3; sweep++) {
        for (int octant = 0; octant < 8; octant++) {
            int before[2], after[2];
            for (int d = 0; d < 2; d++) {
                MPI_Cart_shift(grid, d, octant >> d & 1 ? -1 : 1, &before[d],
                               &after[d]);
            }
            for (int block = 0; block < blocks; block++) {
                MPI_Recv(in, y * 48, MPI_BYTE, before[0], 1, grid,
                         MPI_STATUS_IGNORE);
                MPI_Recv(in, x * 48, MPI_BYTE, before[1], 2, grid,
                         MPI_STATUS_IGNORE);
                work(x * y * 2.4e-8);
                MPI_Send(out, y * 48, MPI_BYTE, after[0], 1, grid);
                MPI_Send(out, x * 48, MPI_BYTE, after[1], 2, grid);
            }
        }
        MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, grid);
    }
}

static void transpose(void)
{
    int dims[2] = {0, 0}, periods[2] = {0, 0}, n = 256;
    int keep_row[2] = {0, 1}, keep_column[2] = {1, 0};
    MPI_Comm grid, row, column;
    MPI_Dims_create(ranks, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Cart_sub(grid, keep_row, &row);
    MPI_Cart_sub(grid, keep_column, &column);
    int part = n * n * 16 / ranks;
    for (int step = 0; step < 20; step++) {
        work(n * n * 1.6e-7 / ranks);
        MPI_Alltoall(out, part / dims[1], MPI_BYTE, in, part / dims[1],
                     MPI_BYTE, row);
        work(n * n * 1.6e-7 / ranks);
        MPI_Alltoall(out, part / dims[0], MPI_BYTE, in, part / dims[0],
                     MPI_BYTE, column);
    }
}

static void cg(void)
{
    int peers[MOST], sizes[MOST], count = 0;
    for (int other = 0; other < ranks && count < MOST; other++) {
        unsigned a = (unsigned)(rank < other ? rank : other);
        unsigned b = (unsigned)(rank < other ? other : rank);
        int near = b - a == 1 || (a == 0 && (int)b == ranks - 1);
        if (other != rank && (near || hashed(a, b) < 2.0 / ranks)) {
            peers[count] = other;
            sizes[count++] = 800 + 8 * (int)(1000 * hashed(b, a));
        }
    }
    double rows = 4000.0 / ranks * (0.9 + 0.2 * hashed((unsigned)rank, 7));
    for (int step = 0; step < 25; step++) {
        MPI_Request requests[2 * MOST];
        for (int k = 0; k < count; k++) {
            MPI_Irecv(in, sizes[k], MPI_BYTE, peers[k], 0, MPI_COMM_WORLD,
                      &requests[k]);
        }
        for (int k = 0; k < count; k++) {
            MPI_Isend(out, sizes[k], MPI_BYTE, peers[k], 0, MPI_COMM_WORLD,
                      &requests[count + k]);
        }
        MPI_Waitall(2 * count, requests, MPI_STATUSES_IGNORE);
        work(rows * 1e-6);
        MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        work(rows * 2e-7);
        MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

static void farm(void)
{
    int tasks = 160, given = 0, stopped = 0;
    if (rank == 0) {
        for (int worker = 1; worker < ranks; worker++) {
            MPI_Send(out, 16384, MPI_BYTE, worker, ++given, MPI_COMM_WORLD);
        }
        while (stopped < ranks - 1) {
            MPI_Status status;
            MPI_Recv(in, 1024, MPI_BYTE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD,
                     &status);
            int next = given < tasks ? ++given : 0;
            stopped += next == 0;
            MPI_Send(out, next ? 16384 : 0, MPI_BYTE, status.MPI_SOURCE, next,
                     MPI_COMM_WORLD);
        }
        return;
    }
    while (1) {
        MPI_Status status;
        MPI_Recv(in, 16384, MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == 0) {
            return;
        }
        work(2e-4 + 2e-3 * hashed((unsigned)status.MPI_TAG, 3));
        MPI_Send(out, 1024, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} styles[] = {
    {"stencil", stencil}, {"wavefront", wavefront}, {"transpose", transpose},
    {"cg", cg},           {"farm", farm},
};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (size_t k = 0; k < sizeof(styles) / sizeof(*styles); k++) {
        if (argc > 1 && strcmp(argv[1], styles[k].name) == 0) {
            styles[k].run();
        }
    }
    double seconds = MPI_Wtime() - begin, slowest = 0;
    MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("%.9f\n", slowest);
    }
    MPI_Finalize();
    return 0;
}
