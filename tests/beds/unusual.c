/* SPDX-License-Identifier: BSD-3-Clause */
/* A program with calls, or an end, that few programs have: named by its first
 * argument. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static double sent[400], received[400];

static void session(void)
{
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Session_finalize(&session);
}

static void neighbour(int ranks)
{
    MPI_Comm ring;
    MPI_Cart_create(MPI_COMM_WORLD, 1, (int[]){ranks}, (int[]){1}, 0, &ring);
    for (int k = 0; k < 50; k++) {
        MPI_Neighbor_alltoall(sent, 100, MPI_DOUBLE, received, 100, MPI_DOUBLE,
                              ring);
    }
}

static void put(int to)
{
    MPI_Win window;
    MPI_Win_create(received, sizeof(received), 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                   &window);
    for (int k = 0; k < 50; k++) {
        MPI_Win_fence(0, window);
        MPI_Put(sent, 100, MPI_DOUBLE, to, 0, 100, MPI_DOUBLE, window);
        MPI_Win_fence(0, window);
    }
    MPI_Win_free(&window);
}

static void partitioned(int to, int from)
{
    MPI_Request both[2];
    MPI_Psend_init(sent, 2, 100, MPI_DOUBLE, to, 0, MPI_COMM_WORLD,
                   MPI_INFO_NULL, &both[0]);
    MPI_Precv_init(received, 2, 100, MPI_DOUBLE, from, 0, MPI_COMM_WORLD,
                   MPI_INFO_NULL, &both[1]);
    for (int k = 0; k < 50; k++) {
        MPI_Startall(2, both);
        MPI_Pready_range(0, 1, both[0]);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    }
}

int main(int count, char **words)
{
    int rank, ranks;
    const char *how = count > 1 ? words[1] : "";
    if (strcmp(how, "session") == 0) {
        session();
        return 0;
    }
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
    if (strcmp(how, "neighbour") == 0) {
        neighbour(ranks);
    } else if (strcmp(how, "put") == 0) {
        put(next);
    } else if (strcmp(how, "partitioned") == 0) {
        partitioned(next, last);
    } else {
        for (int k = 0; k < 50; k++) {
            MPI_Allreduce(sent, received, 100, MPI_DOUBLE, MPI_SUM,
                          MPI_COMM_WORLD);
        }
        if (strcmp(how, "exit") == 0 || rank == 0) {
            exit(4);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
