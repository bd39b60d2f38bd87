/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file table_io.c
 * A program that writes and reads what a table says, through MPI-IO.
 *
 *     table_io FILE TABLE
 *
 * TABLE holds lines "rank offset length count stride": count pieces of length
 * bytes, stride apart. All pieces of a rank are its file view; it is written
 * in one MPI_File_write_all and read in one MPI_File_read_all, and compared.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 100000 };

typedef struct piece {
    long long offset;
    int length;
} piece_t;

static piece_t pieces[MOST];
static int piece_count;

static int by_offset(const void *a, const void *b)
{
    long long first = ((const piece_t *)a)->offset;
    long long second = ((const piece_t *)b)->offset;
    return (first > second) - (first < second);
}

static void read_table(const char *path, int rank)
{
    FILE *stream = fopen(path, "r");
    int of, length, count;
    long long offset, stride;
    while (stream && fscanf(stream, "%d %lld %d %d %lld", &of, &offset, &length,
                            &count, &stride) == 5) {
        int some = of == rank && length > 0;
        for (int k = 0; some && k < count && piece_count < MOST; k++) {
            pieces[piece_count++] = (piece_t){offset + k * stride, length};
        }
    }
    if (stream == NULL || fclose(stream)) {
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    qsort(pieces, (size_t)piece_count, sizeof(piece_t), by_offset);
}

static int set_view(MPI_File file)
{
    static int lengths[MOST];
    static MPI_Aint places[MOST];
    int bytes = 0;
    for (int k = 0; k < piece_count; k++) {
        lengths[k] = pieces[k].length;
        places[k] = (MPI_Aint)pieces[k].offset;
        bytes += lengths[k];
    }
    MPI_Datatype view = MPI_BYTE;
    if (piece_count) {
        MPI_Type_create_hindexed(piece_count, lengths, places, MPI_BYTE, &view);
        MPI_Type_commit(&view);
    }
    MPI_File_set_view(file, 0, MPI_BYTE, view, "native", MPI_INFO_NULL);
    return bytes;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, wrong;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    read_table(argv[2], rank);
    MPI_File file;
    int mode = MPI_MODE_CREATE | MPI_MODE_RDWR;
    wrong = MPI_File_open(MPI_COMM_WORLD, argv[1], mode, MPI_INFO_NULL, &file);
    if (wrong) {
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    int bytes = set_view(file);
    char *data = malloc((size_t)bytes + 1),
         *found = calloc((size_t)bytes + 1, 1);
    for (int k = 0; k < bytes; k++) {
        data[k] = (char)(rank * 31 + k % 101 + 1);
    }
    data[bytes] = 0;
    MPI_File_write_all(file, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    MPI_File_read_all(file, found, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    wrong = memcmp(data, found, (size_t)bytes) != 0;
    MPI_File_close(&file);
    free(data);
    free(found);
    MPI_Finalize();
    return wrong;
}
