/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file soak_calls.c
 * A program that knows nothing of Isochrone and calls MPI for a long time.
 *
 *     soak_calls SECONDS [FILE]
 *
 * With a file it writes and reads that, collectively; else it makes messages
 * and collective operations, on communicators that come and go. It frees all
 * that it makes. Prints the number of its calls.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 4096, OFTEN = 100 };

static int rank, ranks;
static long calls;
static char *in, *out;

/** Collective operations of a size on a communicator. */
static void together(MPI_Comm comm, int bytes)
{
    MPI_Bcast(in, bytes, MPI_BYTE, 0, comm);
    MPI_Allreduce(in, out, bytes, MPI_BYTE, MPI_BOR, comm);
    MPI_Allgather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, comm);
    MPI_Alltoall(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, comm);
    MPI_Reduce(in, out, bytes, MPI_BYTE, MPI_BOR, 0, comm);
    MPI_Barrier(comm);
    calls += 6;
}

/** Messages around a ring. */
static void around(int bytes)
{
    MPI_Request requests[2];
    MPI_Irecv(in, bytes, MPI_BYTE, (rank + ranks - 1) % ranks, 1,
              MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, bytes, MPI_BYTE, (rank + 1) % ranks, 1, MPI_COMM_WORLD,
              &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    calls += 3;
}

static void talk(long round)
{
    static const int sizes[] = {1, 64, 1000, MOST};
    int bytes = sizes[round % 4];
    around(bytes);
    together(MPI_COMM_WORLD, bytes);
    if (round % OFTEN == 0) {
        MPI_Comm own;
        MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &own);
        together(own, bytes);
        MPI_Comm_free(&own);
        calls += 2;
    }
}

static void use_file(const char *name)
{
    MPI_File file;
    MPI_Datatype type;
    MPI_Type_vector(8, 64, 64 * ranks, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR,
                  MPI_INFO_NULL, &file);
    MPI_File_set_view(file, (MPI_Offset)rank * 64, MPI_BYTE, type, "native",
                      MPI_INFO_NULL);
    for (int k = 0; k < OFTEN; k++) {
        MPI_File_write_at_all(file, 0, out, 512, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_read_at_all(file, 0, in, 512, MPI_BYTE, MPI_STATUS_IGNORE);
        calls += 2;
    }
    MPI_File_close(&file);
    MPI_Type_free(&type);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double end = MPI_Wtime() + (argc > 1 ? atof(argv[1]) : 0);
    in = calloc((size_t)ranks, MOST);
    out = calloc((size_t)ranks, MOST);
    int goes_on = in && out;
    for (long round = 0; goes_on; round++) {
        argc > 2 ? use_file(argv[2]) : talk(round);
        if (argc > 2 || round % OFTEN == 0) {
            goes_on = MPI_Wtime() < end;
            MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
        }
    }
    if (rank == 0) {
        printf("%ld calls\n", calls);
    }
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
