/* SPDX-License-Identifier: BSD-3-Clause */
#include "io_recorder/requests.h"

#include "recording/memory.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct {
    MPI_Request request;
    iso_started_t started;
} iso_pending_t;

static iso_pending_t *pending;
static int used, room;
static atomic_int pending_count; /**< the same as used, without the lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static iso_pending_t *find(MPI_Request request)
{
    for (int k = 0; k < used; k++) {
        if (pending[k].request == request) {
            return &pending[k];
        }
    }
    return NULL;
}

void iso_request_add(MPI_Request request, const iso_started_t *started)
{
    pthread_mutex_lock(&lock);
    iso_pending_t *entry = find(request); /* one that was freed */
    if (entry == NULL) {
        ISO_GROW(pending, used, room);
        entry = &pending[used++];
    }
    *entry = (iso_pending_t){request, *started};
    atomic_store(&pending_count, used);
    pthread_mutex_unlock(&lock);
}

iso_completion_t iso_completion_begin(int count, const MPI_Request *requests)
{
    iso_completion_t completion = {.nested = iso_timing != NULL};
    int length = 0;
    if (completion.nested || atomic_load(&pending_count) == 0) {
        return completion;
    }
    pthread_mutex_lock(&lock);
    for (int k = 0; k < count; k++) {
        if (find(requests[k])) {
            ISO_GROW(completion.list, completion.count, length);
            completion.list[completion.count++] =
                (iso_awaited_t){k, requests[k]};
        }
    }
    pthread_mutex_unlock(&lock);
    if (completion.list && !iso_outermost()) { /* not of the program */
        free(completion.list);
        completion.list = NULL;
    }
    if (completion.list) {
        iso_timing_begin();
        completion.begin = PMPI_Wtime();
    }
    return completion;
}

void iso_completion_end(iso_completion_t *completion,
                        const MPI_Request *requests)
{
    double now = PMPI_Wtime();
    if (completion->nested) {
        iso_timing_waited(now);
    }
    if (completion->list == NULL) {
        return;
    }
    double access = iso_timing_end()->accessed;
    double begin = completion->begin;
    pthread_mutex_lock(&lock);
    for (int k = 0; k < completion->count; k++) {
        const iso_awaited_t *awaited = &completion->list[k];
        iso_pending_t *entry = find(awaited->request);
        bool done = requests[awaited->position] == MPI_REQUEST_NULL;
        if (entry) { /* the time of the call counts for the first */
            iso_access_awaited(&entry->started, begin, now, access, done);
            begin = now;
            access = 0;
        }
        if (entry && done) {
            *entry = pending[--used];
        }
    }
    atomic_store(&pending_count, used);
    pthread_mutex_unlock(&lock);
    free(completion->list);
    iso_outermost_ends();
}
