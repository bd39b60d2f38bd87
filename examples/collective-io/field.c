/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a field collectively, as many programs do: every rank has a tile.
 *
 *     mpicc field.c -o field
 *     mpiexec -n 16 ./field FILE
 *
 * A tile has 1024 x 2048 numbers of 4 bytes: 8 MiB a rank.
 */
#include <mpi.h>

#include <stdlib.h>

enum { HEIGHT = 1024, WIDTH = 2048 };

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, ranks, grid[2] = {0, 0};
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 2) {
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Dims_create(ranks, 2, grid);

    int whole[2] = {grid[0] * HEIGHT, grid[1] * WIDTH};
    int tile[2] = {HEIGHT, WIDTH};
    int first[2] = {rank / grid[1] * HEIGHT, rank % grid[1] * WIDTH};
    MPI_Datatype mine;
    MPI_Type_create_subarray(2, whole, tile, first, MPI_ORDER_C, MPI_FLOAT, &mine);
    MPI_Type_commit(&mine);

    float *numbers = malloc(sizeof *numbers * HEIGHT * WIDTH);
    for (int i = 0; i < HEIGHT * WIDTH; i++) {
        numbers[i] = (float)rank;
    }
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY,
                  MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 0, MPI_FLOAT, mine, "native", MPI_INFO_NULL);
    MPI_File_write_all(file, numbers, HEIGHT * WIDTH, MPI_FLOAT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);

    free(numbers);
    MPI_Type_free(&mine);
    MPI_Finalize();
    return 0;
}
