/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file threads.c
 * Four threads of each rank exchange messages with the same thread of the next
 * one, all at once.
 */
#include <mpi.h>
#include <pthread.h>

enum { THREADS = 4, TIMES = 50 };

static int rank, ranks;

static void *exchange(void *number)
{
    int tag = *(int *)number, in, out = rank;
    for (int k = 0; k < TIMES; k++) {
        MPI_Request requests[2];
        MPI_Irecv(&in, 1, MPI_INT, (rank + ranks - 1) % ranks, tag,
                  MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&out, 1, MPI_INT, (rank + 1) % ranks, tag, MPI_COMM_WORLD,
                  &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int given, numbers[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int k = 0; k < THREADS; k++) {
        numbers[k] = k;
        pthread_create(&threads[k], NULL, exchange, &numbers[k]);
    }
    for (int k = 0; k < THREADS; k++) {
        pthread_join(threads[k], NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
