/* SPDX-License-Identifier: BSD-3-Clause */
#include "lives.h"

#include "call.h"
#include "counted.h"

#include "grid/collectives.h"

#include <pthread.h>
#include <stdio.h>

enum { MAX_RANKS = 64 };

static const iso_grid_t grids[] = {
    {.kind = ISO_GRID_ROWS_OF, .length = 2},
    {.kind = ISO_GRID_ROWS_OF, .length = 3},
    {.kind = ISO_GRID_NODES},
};

/** Use all grids; how many results were wrong. */
static int use(MPI_Comm comm)
{
    int rank, size, wrong = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int g = 0; g < 3; g++) {
        int sum = 0, send[MAX_RANKS], receive[MAX_RANKS];
        iso_grid_allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm, &grids[g]);
        wrong += sum != size * (size - 1) / 2;
        for (int k = 0; k < size; k++) {
            send[k] = 100 * rank + k;
        }
        iso_grid_alltoall(send, 1, MPI_INT, receive, 1, MPI_INT, comm,
                          &grids[g]);
        for (int k = 0; k < size; k++) {
            wrong += receive[k] != 100 * k + rank;
        }
    }
    return wrong;
}

/** One communicator and its duplicate, from the beginning to the end. */
static int live(MPI_Comm parent)
{
    MPI_Comm comm, copy;
    MPI_Comm_dup(parent, &comm);
    int before = counted_made, wrong = use(comm);
    int made = counted_made - before;
    wrong += use(comm);
    if (counted_made - before != made) {
        fprintf(stderr, "groups were made twice\n");
        wrong++;
    }
    MPI_Comm_dup(comm, &copy);
    MPI_Comm_free(&comm);
    wrong += use(copy);
    if (counted_made - before != 2 * made) {
        fprintf(stderr, "a duplicate has no groups of its own\n");
        wrong++;
    }
    MPI_Comm_free(&copy);
    return wrong;
}

int lives_run(int count)
{
    int wrong = use(MPI_COMM_WORLD), all_wrong = 0, rest = counted_alive;
    for (int k = 0; k < count; k++) {
        wrong += live(MPI_COMM_WORLD);
    }
    if (counted_alive != rest) {
        fprintf(stderr, "%d group communicators are left\n",
                counted_alive - rest);
        wrong++;
    }
    MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return all_wrong;
}

/** What one thread does. */
typedef struct work {
    MPI_Comm comm;
    int count, wrong;
} work_t;

static void *work(void *argument)
{
    work_t *w = argument;
    for (int k = 0; k < w->count; k++) {
        MPI_Comm copy;
        MPI_Comm_dup(w->comm, &copy);
        w->wrong += use(copy) + use(w->comm);
        MPI_Comm_free(&copy);
    }
    return NULL;
}

int threads_run(int count)
{
    pthread_t threads[2];
    work_t works[2];
    int wrong = 0, all_wrong = 0;
    for (int t = 0; t < 2; t++) {
        works[t] = (work_t){.count = count};
        MPI_Comm_dup(MPI_COMM_WORLD, &works[t].comm);
    }
    for (int t = 0; t < 2; t++) {
        pthread_create(&threads[t], NULL, work, &works[t]);
    }
    for (int t = 0; t < 2; t++) {
        pthread_join(threads[t], NULL);
        wrong += works[t].wrong;
        MPI_Comm_free(&works[t].comm);
    }
    MPI_Allreduce(&wrong, &all_wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return all_wrong;
}
