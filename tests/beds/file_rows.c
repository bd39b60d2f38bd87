/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file file_rows.c
 * A program whose ranks, even and odd ones apart, write rows of a file:  FILE
 *
 * Each half opens FILE.0 or FILE.1, and writes three blocks of 2 x 16 rows of
 * 1 KiB, row by row the one and the other rank, block after block; then it
 * reads the first block back, and the first rank of each writes ten numbers
 * alone.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 16, ROW = 1024, BLOCK = ROWS * ROW };

int main(int argc, char **argv)
{
    int rank, own, ranks;
    char path[1000], data[BLOCK];
    double number = 0;
    MPI_Comm half;
    MPI_File file;
    MPI_Info info;
    MPI_Datatype rows;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_rank(half, &own);
    MPI_Comm_size(half, &ranks);
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_buffer_size", "8192");
    MPI_Info_set(info, "romio_cb_write", "enable");
    MPI_Info_set(info, "no_such_hint", "7");
    snprintf(path, sizeof(path), "%s.%d", argv[1], rank % 2);
    MPI_File_open(half, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file);
    MPI_Type_vector(ROWS, ROW, ranks * ROW, MPI_BYTE, &rows);
    MPI_Type_create_resized(rows, 0, (MPI_Aint)ranks * BLOCK, &rows);
    MPI_Type_commit(&rows);
    MPI_File_set_view(file, (MPI_Offset)own * ROW, MPI_BYTE, rows, "native",
                      MPI_INFO_NULL);
    memset(data, rank, sizeof(data));
    for (int k = 0; k < 3; k++) {
        MPI_File_write_at_all(file, (MPI_Offset)k * BLOCK, data, BLOCK,
                              MPI_BYTE, MPI_STATUS_IGNORE);
    }
    MPI_File_read_all(file, data, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE);
    for (int k = 0; k < 10 && own == 0; k++) {
        MPI_File_write_at(file, 3 * BLOCK + 8 * k, &number, 1, MPI_DOUBLE,
                          MPI_STATUS_IGNORE);
    }
    MPI_File_write_ordered(file, &number, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Type_free(&rows);
    MPI_Info_free(&info);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
