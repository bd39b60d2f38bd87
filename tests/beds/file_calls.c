/* Every kind of MPI-IO call, one kind for each word: file_calls FILE [late] */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIZE = 1 << 16, PIECE = 4096, TIMES = 4 };

static int rank, ranks;
static char data[SIZE];

static void access_all(MPI_File file)
{
    MPI_Offset at = (MPI_Offset)rank * SIZE;
    MPI_Request requests[2];
    for (int k = 0; k < TIMES; k++) {
        MPI_File_write_at(file, at, data, SIZE, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_write_at_all(file, at, data, rank ? SIZE : 0, MPI_BYTE,
                              MPI_STATUS_IGNORE);
        MPI_File_seek(file, at, MPI_SEEK_SET);
        MPI_File_write_all_begin(file, data, SIZE, MPI_BYTE);
        MPI_File_write_all_end(file, data, MPI_STATUS_IGNORE);
        MPI_File_sync(file);
        MPI_File_write_shared(file, data, PIECE, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_write_ordered(file, data, PIECE, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_iwrite_at(file, at, data, PIECE, MPI_BYTE, &requests[0]);
        MPI_File_iwrite_at(file, at + SIZE, data, PIECE, MPI_BYTE,
                           &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}

static void access_strided(MPI_File file)
{
    MPI_Datatype rows;
    MPI_Request request;
    int done = 0;
    MPI_Type_vector(SIZE / PIECE, PIECE, ranks * PIECE, MPI_BYTE, &rows);
    MPI_Type_commit(&rows);
    MPI_File_set_view(file, (MPI_Offset)rank * PIECE, MPI_BYTE, rows, "native",
                      MPI_INFO_NULL);
    MPI_File_write_all(file, data, SIZE, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_read(file, data, SIZE, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    MPI_File_iwrite_all(file, data, SIZE, MPI_BYTE, &request);
    while (!done) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    MPI_Type_free(&rows);
}

int main(int count, char **words)
{
    MPI_File file;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int k = 0; k < 2; k++) {
        MPI_File_open(MPI_COMM_WORLD, words[1], MPI_MODE_CREATE | MPI_MODE_RDWR,
                      MPI_INFO_NULL, &file);
        MPI_File_set_size(file, 0);
        if (count > 2 && rank == 3) { /* comes late to the next call */
            sleep(1);
        }
        MPI_File_write_at_all(file, (MPI_Offset)rank * SIZE, data, SIZE,
                              MPI_BYTE, MPI_STATUS_IGNORE);
        if (count == 2) {
            access_all(file);
            access_strided(file);
        }
        MPI_File_close(&file);
    }
    return MPI_Finalize();
}
