/* Styles of programs whose ranks form no grid, or who meet whom depends on
 * data. */
#include "styles.h"

#include <stdlib.h>

void cg(char **a)
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

void farm(char **a)
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

void chain(char **a)
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

void particles(char **a)
{
    int n = (int)number(a, 0), steps = (int)number(a, 1),
        seed = (int)number(a, 2), dims[2] = {0}, periods[2] = {1, 1};
    MPI_Comm grid;
    MPI_Dims_create(ranks, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    double sum, own = n;
    for (int step = 0; step < steps; step++) {
        MPI_Request requests[4];
        compute(number(a, 3) * n * (0.9 + 0.2 * factor(seed + step, rank)));
        for (int k = 0; k < 4; k++) {
            int low, high;
            MPI_Cart_shift(grid, k / 2, 1, &low, &high);
            int leaving =
                (int)(n *
                      (0.02 + 0.06 * factor(seed + k, rank + ranks * step)));
            MPI_Isend(out, 56 * leaving, MPI_BYTE, k % 2 ? low : high, 3, grid,
                      &requests[k]);
        }
        for (int k = 0; k < 4; k++) {
            MPI_Status status;
            int bytes;
            MPI_Probe(MPI_ANY_SOURCE, 3, grid, &status);
            MPI_Get_count(&status, MPI_BYTE, &bytes);
            MPI_Recv(in, bytes, MPI_BYTE, status.MPI_SOURCE, 3, grid,
                     MPI_STATUS_IGNORE);
        }
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        if (step % 5 == 4)
            MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, grid);
    }
}

void ring(char **a)
{
    int n = (int)number(a, 0), steps = (int)number(a, 1);
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    double each = (double)n / ranks, sum, own = 1;
    for (int step = 0; step < steps; step++) {
        for (int turn = 0; turn < ranks - 1; turn++) {
            MPI_Request requests[2];
            int bytes = (int)(32 * each);
            MPI_Irecv(in, bytes, MPI_BYTE, left, turn, MPI_COMM_WORLD,
                      &requests[0]);
            MPI_Isend(out, bytes, MPI_BYTE, right, turn, MPI_COMM_WORLD,
                      &requests[1]);
            compute(number(a, 2) * each * each);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        }
        compute(number(a, 2) * each);
        MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

void mesh(char **a)
{ /* a strip of a mesh with some edges between far parts: each has 2 to 2 +
     DEGREE neighbours */
    int n = (int)number(a, 0), steps = (int)number(a, 1),
        degree = (int)number(a, 2), seed = (int)number(a, 3), near = 0;
    int neighbours[64], bytes[64];
    for (int other = 0; other < ranks; other++) {
        int low = other < rank ? other : rank, apart = abs(other - rank);
        int joined = apart == 1 || (apart > 1 && apart <= degree + 1 &&
                                    factor(seed, low * 64 + apart) < 0.5);
        if (!joined || near == 64)
            continue;
        neighbours[near] = other;
        bytes[near++] =
            8 * (int)(n / 10 * (0.5 + factor(seed + 1, low * 64 + apart)));
    }
    double sum, own = 1;
    for (int step = 0; step < steps; step++) {
        MPI_Request requests[128];
        for (int k = 0; k < near; k++)
            MPI_Irecv(in + k * 65536, 65536, MPI_BYTE, MPI_ANY_SOURCE, 5,
                      MPI_COMM_WORLD, &requests[k]);
        for (int k = 0; k < near; k++)
            MPI_Isend(out, bytes[k], MPI_BYTE, neighbours[k], 5, MPI_COMM_WORLD,
                      &requests[near + k]);
        MPI_Waitall(2 * near, requests, MPI_STATUSES_IGNORE);
        compute(number(a, 4) * n * (0.9 + 0.2 * factor(seed + 2, rank)));
        MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

void sandwich(char **a)
{
    int n = (int)number(a, 0), steps = (int)number(a, 1), each = n / ranks;
    for (int step = 0; step < steps; step++) {
        compute(number(a, 2) * n / 10);
        MPI_Reduce_scatter_block(out, in, each, MPI_DOUBLE, MPI_SUM,
                                 MPI_COMM_WORLD);
        compute(number(a, 2) * each);
        MPI_Allgather(in, each, MPI_DOUBLE, out, each, MPI_DOUBLE,
                      MPI_COMM_WORLD);
    }
}
