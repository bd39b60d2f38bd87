/* SPDX-License-Identifier: BSD-3-Clause */
/* Exchanges the borders of a two-dimensional field with four neighbours.
 *
 *     mpicc halo.c -o halo
 *     mpiexec -n 8 ./halo
 */
#include <mpi.h>

enum { BORDER = 4096, ITERATIONS = 100 };

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int ranks, grid[2] = {0, 0}, periodic[2] = {0, 1};
    MPI_Comm field;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Dims_create(ranks, 2, grid);
    MPI_Cart_create(MPI_COMM_WORLD, 2, grid, periodic, 0, &field);

    static double mine[BORDER], theirs[BORDER];
    for (int k = 0; k < ITERATIONS; k++) {
        for (int axis = 0; axis < 2; axis++) {
            int before, after, length = axis == 0 ? BORDER : BORDER / 4;
            MPI_Cart_shift(field, axis, 1, &before, &after);
            MPI_Sendrecv(mine, length, MPI_DOUBLE, after, 0, theirs, length, MPI_DOUBLE,
                         before, 0, field, MPI_STATUS_IGNORE);
            MPI_Sendrecv(mine, length, MPI_DOUBLE, before, 1, theirs, length, MPI_DOUBLE,
                         after, 1, field, MPI_STATUS_IGNORE);
        }
        double change = 1.0 / (k + 1);
        MPI_Allreduce(MPI_IN_PLACE, &change, 1, MPI_DOUBLE, MPI_MAX, field);
    }
    MPI_Comm_free(&field);
    MPI_Finalize();
    return 0;
}
