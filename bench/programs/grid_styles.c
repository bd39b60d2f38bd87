/* Styles of programs whose ranks form a grid. */
#include "styles.h"

#include <stdlib.h>

void stencil(char **a)
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

void wavefront(char **a)
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

void rowcol(char **a)
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

/* Exchange uneven blocks: layers in common times the parts of both ends. */
static void transposed(int n, int layers, MPI_Comm row)
{
    int members, own, bytes[512], at[512];
    MPI_Comm_size(row, &members);
    MPI_Comm_rank(row, &own);
    for (int k = 0, all = 0; k < members; k++) {
        bytes[k] = 16 * layers * part(n, members, own) * part(n, members, k);
        at[k] = all;
        all += bytes[k];
    }
    MPI_Alltoallv(out, bytes, at, MPI_BYTE, in, bytes, at, MPI_BYTE, row);
}

void pencils(char **a)
{
    int n = (int)number(a, 0), steps = (int)number(a, 1), dims[2];
    MPI_Comm row, column;
    split_grid(dims, &row, &column);
    int y = part(n, dims[0], rank / dims[1]),
        z = part(n, dims[1], rank % dims[1]);
    double cells = (double)n * y * z;
    for (int step = 0; step < steps; step++) {
        compute(number(a, 2) * cells);
        transposed(n, y, row);
        compute(number(a, 2) * cells);
        transposed(n, z, column);
        compute(number(a, 2) * cells);
    }
}

void cg2(char **a)
{ /* rows and their partners as in NPB CG: as many columns as rows, or twice as
     many */
    int n = (int)number(a, 0), steps = (int)number(a, 1), rows = 1;
    while (rows * rows * 4 <= ranks)
        rows *= 2;
    int columns = ranks / rows, partner;
    if (columns == rows)
        partner = rank % rows * rows + rank / rows;
    else
        partner = 2 * (rank / 2 % rows * rows + rank / 2 / rows) + rank % 2;
    MPI_Comm row;
    MPI_Comm_split(MPI_COMM_WORLD, rank / columns, rank, &row);
    double sum, own = 1;
    int bytes = 8 * (n / columns);
    for (int step = 0; step < steps; step++) {
        compute(number(a, 2) * n / ranks * 50);
        MPI_Allreduce(out, in, n / rows, MPI_DOUBLE, MPI_SUM, row);
        if (partner != rank)
            MPI_Sendrecv(out, bytes, MPI_BYTE, partner, 1, in, bytes, MPI_BYTE,
                         partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, row);
        compute(number(a, 2) * n / columns);
        MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, row);
    }
}

void summa(char **a)
{
    int n = (int)number(a, 0), steps = (int)number(a, 1), dims[2], panel = 32;
    MPI_Comm row, column;
    split_grid(dims, &row, &column);
    int below = n / dims[0], across = n / dims[1];
    for (int step = 0; step < steps; step++) {
        MPI_Bcast(out, 8 * panel * below, MPI_BYTE, step % dims[1], row);
        MPI_Bcast(in, 8 * panel * across, MPI_BYTE, step % dims[0], column);
        compute(number(a, 2) * below * across);
    }
}

void subcom3(char **a)
{
    int bytes = (int)number(a, 0), steps = (int)number(a, 1);
    int dims[3] = {0}, periods[3] = {0};
    MPI_Comm grid, along[3];
    MPI_Dims_create(ranks, 3, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 0, &grid);
    for (int k = 0; k < 3; k++) {
        int kept[3] = {k == 0, k == 1, k == 2};
        MPI_Cart_sub(grid, kept, &along[k]);
    }
    for (int step = 0; step < steps; step++)
        for (int k = 0; k < 3; k++) {
            compute(number(a, 2) * bytes);
            MPI_Alltoall(out, bytes / dims[k], MPI_BYTE, in, bytes / dims[k],
                         MPI_BYTE, along[k]);
        }
}

/* Sides of a 2-D grid to its neighbours. */
static void sides(MPI_Comm grid, int bytes)
{
    MPI_Request requests[8];
    int open = 0;
    for (int k = 0; k < 2; k++) {
        int low, high;
        MPI_Cart_shift(grid, k, 1, &low, &high);
        MPI_Irecv(in, bytes, MPI_BYTE, low, k, grid, &requests[open++]);
        MPI_Irecv(in + MOST / 2, bytes, MPI_BYTE, high, k, grid,
                  &requests[open++]);
        MPI_Isend(out, bytes, MPI_BYTE, low, k, grid, &requests[open++]);
        MPI_Isend(out, bytes, MPI_BYTE, high, k, grid, &requests[open++]);
    }
    MPI_Waitall(open, requests, MPI_STATUSES_IGNORE);
}

void multigrid(char **a)
{ /* n cells of a side on each rank; a level without all ranks keeps every
     second of each side */
    int n = (int)number(a, 0), steps = (int)number(a, 1),
        levels = (int)number(a, 2), open = 0;
    MPI_Comm grids[16];
    int dims[2] = {0}, none[2] = {0};
    MPI_Dims_create(ranks, 2, dims);
    int row = rank / dims[1], column = rank % dims[1];
    for (int apart = 1; open < levels; open++, apart *= 2) {
        int over[2] = {(dims[0] - 1) / apart + 1, (dims[1] - 1) / apart + 1};
        int inside = row % apart == 0 && column % apart == 0;
        MPI_Comm members;
        MPI_Comm_split(MPI_COMM_WORLD, inside ? 0 : MPI_UNDEFINED, rank,
                       &members);
        if (!inside)
            break;
        MPI_Cart_create(members, 2, over, none, 0, &grids[open]);
    }
    for (int k = open; k < levels - 1; k++) { /* all take part in each split */
        MPI_Comm members;
        MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, rank, &members);
    }
    double sum, own = 1;
    for (int step = 0; step < steps; step++) {
        for (int turn = 0; turn < 2 * levels; turn++) {
            int level = turn < levels ? turn : 2 * levels - 1 - turn;
            if (level >= open)
                continue;
            sides(grids[level], 8 * n);
            compute(number(a, 3) * n * n);
        }
        MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}
