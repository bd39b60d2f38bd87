/* Six programs of strong scaling, to be recorded and predicted:
 * recorded_programs NAME
 *
 * Computation is a sleep of the work divided by the number of ranks, by up to 1
 * % longer or shorter in each turn. It is the same on all ranks: SimGrid takes
 * minutes for 128 ranks that start a collective at different times. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 1 << 20 };

static int rank, ranks, turn;
static char *mine, *theirs;

static void compute(double seconds)
{
    unsigned dice = 2654435761u * (unsigned)(++turn);
    dice ^= dice >> 15;
    dice *= 2246822519u;
    dice ^= dice >> 13;
    double taken =
        seconds / ranks * (1 + 0.01 * ((double)(dice % 2001) / 1000 - 1));
    struct timespec span = {(time_t)taken,
                            (long)(1e9 * (taken - (double)(time_t)taken))};
    nanosleep(&span, NULL);
}

/* A grid of two dimensions without wrap-around, and its neighbours: before and
 * after on each axis. */
static MPI_Comm grid(int side[2], int next[4])
{
    int wraps[2] = {0, 0};
    MPI_Comm made;
    side[0] = side[1] = 0;
    MPI_Dims_create(ranks, 2, side);
    MPI_Cart_create(MPI_COMM_WORLD, 2, side, wraps, 0, &made);
    MPI_Cart_shift(made, 0, 1, &next[0], &next[1]);
    MPI_Cart_shift(made, 1, 1, &next[2], &next[3]);
    return made;
}

static void exchange(MPI_Comm all, const int side[2], const int next[4],
                     int border)
{
    MPI_Request pending[8];
    for (int k = 0; k < 4; k++) {
        int length = border / side[1 - k / 2];
        MPI_Irecv(theirs + k * border, length, MPI_BYTE, next[k], k ^ 1, all,
                  &pending[k]);
        MPI_Isend(mine, length, MPI_BYTE, next[k], k, all, &pending[4 + k]);
    }
    MPI_Waitall(8, pending, MPI_STATUSES_IGNORE);
}

static void stencil(void)
{
    int side[2], next[4];
    MPI_Comm all = grid(side, next);
    for (int k = 0; k < 20; k++) {
        compute(8e-3);
        exchange(all, side, next, 32768);
        MPI_Allreduce(mine, theirs, 1, MPI_DOUBLE, MPI_MAX, all);
    }
}

static void gradients(void)
{
    int side[2], next[4];
    MPI_Comm all = grid(side, next);
    for (int k = 0; k < 25; k++) {
        compute(4e-3);
        exchange(all, side, next, 16384);
        MPI_Allreduce(mine, theirs, 1, MPI_DOUBLE, MPI_SUM, all);
        compute(2e-3);
        MPI_Allreduce(mine, theirs, 1, MPI_DOUBLE, MPI_SUM, all);
    }
}

static void wavefront(void)
{
    int side[2], next[4];
    MPI_Comm all = grid(side, next);
    for (int k = 0; k < 10; k++) {
        MPI_Recv(theirs, 11520 / side[1], MPI_BYTE, next[0], 0, all,
                 MPI_STATUS_IGNORE);
        MPI_Recv(theirs, 11520 / side[0], MPI_BYTE, next[2], 1, all,
                 MPI_STATUS_IGNORE);
        compute(4e-3);
        MPI_Send(mine, 11520 / side[1], MPI_BYTE, next[1], 0, all);
        MPI_Send(mine, 11520 / side[0], MPI_BYTE, next[3], 1, all);
    }
}

static void transposes(void)
{
    int block = MOST / ranks / ranks;
    for (int k = 0; k < 20; k++) {
        compute(16e-3);
        MPI_Alltoall(mine, block, MPI_BYTE, theirs, block, MPI_BYTE,
                     MPI_COMM_WORLD);
    }
}

/* Few turns: an allgather of 128 ranks keeps SimGrid busy for seconds. */
static void rows(void)
{
    for (int k = 0; k < 4; k++) {
        compute(20e-3);
        MPI_Allgather(mine, 1024 / ranks, MPI_DOUBLE, theirs, 1024 / ranks,
                      MPI_DOUBLE, MPI_COMM_WORLD);
    }
}

static void columns(void)
{
    for (int k = 0; k < 20; k++) {
        compute(20e-3);
        MPI_Reduce(mine, theirs, 1024, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        MPI_Bcast(theirs, 1024, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} PROGRAMS[] = {{"stencil", stencil},     {"gradients", gradients},
                {"wavefront", wavefront}, {"transposes", transposes},
                {"rows", rows},           {"columns", columns}};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    mine = calloc(1, MOST);
    theirs = calloc(1, MOST);
    for (size_t k = 0; argc == 2 && k < sizeof PROGRAMS / sizeof *PROGRAMS; k++)
        if (strcmp(argv[1], PROGRAMS[k].name) == 0)
            PROGRAMS[k].run();
    MPI_Finalize();
    return 0;
}
