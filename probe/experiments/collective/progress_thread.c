/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L
#include "experiments/collective/progress_thread.h"

#include "base/check.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

static struct {
    pthread_t thread;
    sem_t taken, released;
    MPI_Request *request; /**< NULL: the thread is to end */
    atomic_bool stopped;
} state;

static void await(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0) {
        /* interrupted by a signal */
    }
}

static void *serve(void *unused)
{
    for (await(&state.taken); state.request; await(&state.taken)) {
        int complete = 0;
        while (!complete && !atomic_load(&state.stopped)) {
            MPI_Test(state.request, &complete, MPI_STATUS_IGNORE);
        }
        sem_post(&state.released);
    }
    return unused;
}

void iso_progress_thread_begin(void)
{
    sem_init(&state.taken, 0, 0);
    sem_init(&state.released, 0, 0);
    if (pthread_create(&state.thread, NULL, serve, NULL) != 0) {
        ISO_FAIL("--progress thread: the system allows no more threads");
    }
}

void iso_progress_thread_take(MPI_Request *request)
{
    state.request = request;
    atomic_store(&state.stopped, false);
    sem_post(&state.taken);
}

void iso_progress_thread_release(void)
{
    atomic_store(&state.stopped, true);
    await(&state.released);
}

void iso_progress_thread_end(void)
{
    state.request = NULL;
    sem_post(&state.taken);
    pthread_join(state.thread, NULL);
    sem_destroy(&state.taken);
    sem_destroy(&state.released);
}
