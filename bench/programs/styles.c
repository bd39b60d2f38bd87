/* Six styles of parallel programs, for SimGrid: computation is virtual time.
 *
 *     styles stencil 3 N STEPS K WEAK US IMBALANCE
 *         3-D (or 2-D) stencil, an allreduce in every K-th step
 *     styles wavefront N STEPS BLOCKS DIRECTIONS US
 *         2-D wavefront from one, two or four corners
 *     styles rowcol N STEPS WEAK US
 *         alltoall in rows, then in columns
 *     styles cg N STEPS DEGREE SEED US
 *         conjugate gradient, irregular neighbours
 *     styles farm TASKS BYTES US SEED
 *         rank 0 hands out tasks to whoever is done
 *     styles chain N STEPS K US
 *         a pipeline, a broadcast in every K-th step
 *
 * Prints the seconds of the slowest rank. */
#include <math.h>
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPEED 1e9 /* operations of a core a second */
#define MOST  (1 << 22)

static int rank, ranks;
static char *out, *in;
static double number(char **words, int k)
{
    return atof(words[k]);
}

static double factor(int seed, int k)
{ /* in 0 to 1, the same everywhere */
    unsigned long x =
        (unsigned long)seed * 2654435761u + (unsigned long)k * 40503u + 12345u;
    for (int round = 0; round < 4; round++)
        x = (x ^ (x >> 15)) * 2246822519u & 0xffffffffu;
    return (double)x / 4294967296.0;
}

static void compute(double us)
{
    smpi_execute_flops(us * 1e-6 * SPEED);
}

static int part(int n, int of, int k)
{
    return n / of + (k < n % of);
}

static void stencil(char **a)
{
    int d = (int)number(a, 0), n = (int)number(a, 1), steps = (int)number(a, 2),
        every = (int)number(a, 3);
    int weak = (int)number(a, 4), dims[3] = {0}, periods[3] = {0}, at[3];
    MPI_Comm grid;
    MPI_Dims_create(ranks, d, dims);
    MPI_Cart_create(MPI_COMM_WORLD, d, dims, periods, 0, &grid);
    MPI_Cart_coords(grid, rank, d, at);
    double cells = 1, sum, own = 1;
    int sides[3];
    for (int k = 0; k < d; k++)
        cells *= sides[k] = weak ? n : part(n, dims[k], at[k]);
    double slow = 1 + number(a, 6) * factor(7, rank);
    for (int step = 0; step < steps; step++) {
        MPI_Request requests[12];
        int open = 0;
        for (int k = 0; k < d; k++) {
            int low, high, bytes = (int)(8 * cells / sides[k]);
            MPI_Cart_shift(grid, k, 1, &low, &high);
            MPI_Irecv(in + k * 2 * (MOST / 8), bytes, MPI_BYTE, low, k, grid,
                      &requests[open++]);
            MPI_Irecv(in + (k * 2 + 1) * (MOST / 8), bytes, MPI_BYTE, high, k,
                      grid, &requests[open++]);
            MPI_Isend(out, bytes, MPI_BYTE, low, k, grid, &requests[open++]);
            MPI_Isend(out, bytes, MPI_BYTE, high, k, grid, &requests[open++]);
        }
        MPI_Waitall(open, requests, MPI_STATUSES_IGNORE);
        compute(number(a, 5) * cells * slow);
        if (step % every == every - 1)
            MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, grid);
    }
}

static void wavefront(char **a)
{
    int n = (int)number(a, 0), steps = (int)number(a, 1),
        blocks = (int)number(a, 2), corners = (int)number(a, 3);
    int dims[2] = {0}, periods[2] = {0}, at[2];
    MPI_Comm grid;
    MPI_Dims_create(ranks, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Cart_coords(grid, rank, 2, at);
    int nx = part(n, dims[0], at[0]), ny = part(n, dims[1], at[1]);
    for (int step = 0; step < steps; step++)
        for (int corner = 0; corner < 4; corner += 4 / corners)
            for (int block = 0; block < blocks; block++) {
                int from[2], to[2];
                MPI_Cart_shift(grid, 0, corner & 1 ? -1 : 1, &from[0], &to[0]);
                MPI_Cart_shift(grid, 1, corner & 2 ? -1 : 1, &from[1], &to[1]);
                MPI_Recv(in, 8 * ny * 10, MPI_BYTE, from[0], corner, grid,
                         MPI_STATUS_IGNORE);
                MPI_Recv(in, 8 * nx * 10, MPI_BYTE, from[1], corner, grid,
                         MPI_STATUS_IGNORE);
                compute(number(a, 4) * nx * ny);
                MPI_Send(out, 8 * ny * 10, MPI_BYTE, to[0], corner, grid);
                MPI_Send(out, 8 * nx * 10, MPI_BYTE, to[1], corner, grid);
            }
}

static void rowcol(char **a)
{
    int n = (int)number(a, 0), steps = (int)number(a, 1),
        weak = (int)number(a, 2), dims[2] = {0};
    MPI_Comm row, column;
    MPI_Dims_create(ranks, 2, dims);
    MPI_Comm_split(MPI_COMM_WORLD, rank / dims[1], rank, &row);
    MPI_Comm_split(MPI_COMM_WORLD, rank % dims[1], rank, &column);
    double cells = weak ? (double)n : (double)n / ranks, sum, own = 1;
    for (int step = 0; step < steps; step++) {
        compute(number(a, 3) * cells);
        MPI_Alltoall(out, (int)(16 * cells / dims[1]), MPI_BYTE, in,
                     (int)(16 * cells / dims[1]), MPI_BYTE, row);
        compute(number(a, 3) * cells);
        MPI_Alltoall(out, (int)(16 * cells / dims[0]), MPI_BYTE, in,
                     (int)(16 * cells / dims[0]), MPI_BYTE, column);
        MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

static void cg(char **a)
{
    int n = (int)number(a, 0), steps = (int)number(a, 1),
        degree = (int)number(a, 2), seed = (int)number(a, 3);
    char *near = calloc((size_t)ranks, 1);
    for (int one = 0; one < ranks; one++)
        for (int k = 0; k < degree; k++) {
            int other = k == 0 ? (one + 1) % ranks
                               : (int)(factor(seed + k, one) * ranks);
            if (other == one)
                continue;
            if (one == rank)
                near[other] = 1;
            if (other == rank)
                near[one] = 1;
        }
    double sum, own = 1;
    int bytes = 8 * n / 10;
    for (int step = 0; step < steps; step++) {
        MPI_Request requests[512];
        int open = 0;
        for (int other = 0; other < ranks; other++)
            if (near[other])
                MPI_Irecv(in + other * 4096, bytes, MPI_BYTE, other, 0,
                          MPI_COMM_WORLD, &requests[open++]);
        for (int other = 0; other < ranks; other++)
            if (near[other])
                MPI_Isend(out, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD,
                          &requests[open++]);
        MPI_Waitall(open, requests, MPI_STATUSES_IGNORE);
        compute(number(a, 4) * n);
        MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        compute(number(a, 4) * n / 5);
        MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    free(near);
}

static void farm(char **a)
{
    int tasks = (int)number(a, 0), bytes = (int)number(a, 1),
        seed = (int)number(a, 3), task = 0;
    MPI_Status status;
    if (rank == 0) {
        int given = 0, open = 0;
        for (int worker = 1; worker < ranks; worker++, open++, given++)
            MPI_Send(out, bytes, MPI_BYTE, worker, 1, MPI_COMM_WORLD);
        while (open > 0) {
            MPI_Recv(in, bytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG,
                     MPI_COMM_WORLD, &status);
            if (given < tasks) {
                MPI_Send(out, bytes, MPI_BYTE, status.MPI_SOURCE, 1,
                         MPI_COMM_WORLD);
                given++;
            } else {
                MPI_Send(out, 0, MPI_BYTE, status.MPI_SOURCE, 2,
                         MPI_COMM_WORLD);
                open--;
            }
        }
        return;
    }
    for (;;) {
        MPI_Recv(in, bytes, MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == 2)
            return;
        compute(number(a, 2) * (0.5 + factor(seed, 1000 * rank + task++)));
        MPI_Send(out, bytes / 2, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
}

static void chain(char **a)
{
    int n = (int)number(a, 0), steps = (int)number(a, 1),
        every = (int)number(a, 2);
    for (int step = 0; step < steps; step++) {
        if (rank > 0)
            MPI_Recv(in, 8 * n, MPI_BYTE, rank - 1, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        compute(number(a, 3) * n / ranks);
        if (rank < ranks - 1)
            MPI_Send(out, 8 * n, MPI_BYTE, rank + 1, 0, MPI_COMM_WORLD);
        if (step % every == 0)
            MPI_Bcast(out, n, MPI_BYTE, 0, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    struct {
        const char *name;
        void (*run)(char **);
        int words;
    } styles[] = {{"stencil", stencil, 7}, {"wavefront", wavefront, 5},
                  {"rowcol", rowcol, 4},   {"cg", cg, 5},
                  {"farm", farm, 4},       {"chain", chain, 4}};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    out = calloc(MOST, 1), in = calloc(MOST, 1);
    double begin = MPI_Wtime(), own, most;
    for (int k = 0; k < 6; k++)
        if (argc > 1 && !strcmp(argv[1], styles[k].name) &&
            argc == styles[k].words + 2)
            styles[k].run(argv + 2);
    own = MPI_Wtime() - begin;
    MPI_Finalize();
    most = own;
    printf("%d %.9f\n", rank, most);
    free(out), free(in);
    return 0;
}
