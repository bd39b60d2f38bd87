/* SPDX-License-Identifier: BSD-3-Clause */
#include "grid/comm_cache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/** Cache of one communicator, in a ring of all caches. */
typedef struct bundle {
    struct bundle *before, *after;
    MPI_Comm comm;
    iso_cached_t *first;
} bundle_t;

/* Held for a few instructions, never while MPI is called. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bundle_t ring = {.before = &ring, .after = &ring};

static pthread_mutex_t mutex_of_key = PTHREAD_MUTEX_INITIALIZER;
static atomic_int key = MPI_KEYVAL_INVALID;

static void join_ring(bundle_t *bundle)
{
    pthread_mutex_lock(&mutex);
    bundle->before = ring.before;
    bundle->after = &ring;
    ring.before->after = bundle;
    ring.before = bundle;
    pthread_mutex_unlock(&mutex);
}

static void leave_ring(bundle_t *bundle)
{
    pthread_mutex_lock(&mutex);
    bundle->before->after = bundle->after;
    bundle->after->before = bundle->before;
    pthread_mutex_unlock(&mutex);
}

/** The communicator ends. */
static int end_of_communicator(MPI_Comm comm, int k, void *value, void *extra)
{
    bundle_t *bundle = value;
    leave_ring(bundle);
    while (bundle->first != NULL) {
        iso_cached_t *entry = bundle->first;
        bundle->first = entry->next;
        entry->release(entry);
    }
    free(bundle);
    return MPI_SUCCESS;
}

/** MPI_Finalize begins: it deletes the attributes of MPI_COMM_SELF first,
 *  while all of MPI still works. The newest go first, at all ranks. */
static int end_of_mpi(MPI_Comm comm, int k, void *value, void *extra)
{
    for (;;) {
        pthread_mutex_lock(&mutex);
        bundle_t *newest = ring.before;
        pthread_mutex_unlock(&mutex);
        if (newest == &ring) {
            int last = key;
            key = MPI_KEYVAL_INVALID;
            return last == MPI_KEYVAL_INVALID ? MPI_SUCCESS
                                              : PMPI_Comm_free_keyval(&last);
        }
        int error = PMPI_Comm_delete_attr(newest->comm, key);
        if (error != MPI_SUCCESS) {
            return error;
        }
    }
}

/** Make the key when it is needed first. */
static int make_key(void)
{
    int error = MPI_SUCCESS, of_self, made = MPI_KEYVAL_INVALID;
    pthread_mutex_lock(&mutex_of_key);
    if (key == MPI_KEYVAL_INVALID) {
        error = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_of_mpi,
                                        &of_self, NULL);
        if (error == MPI_SUCCESS) {
            error = PMPI_Comm_set_attr(MPI_COMM_SELF, of_self, &ring);
            PMPI_Comm_free_keyval(&of_self); /* lives on with the attribute */
        }
        if (error == MPI_SUCCESS) {
            error = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN,
                                            end_of_communicator, &made, NULL);
        }
        if (error == MPI_SUCCESS) {
            key = made;
        }
    }
    pthread_mutex_unlock(&mutex_of_key);
    return error;
}

static bundle_t *bundle_of(MPI_Comm comm)
{
    void *value = NULL;
    int found = 0;
    if (key == MPI_KEYVAL_INVALID ||
        PMPI_Comm_get_attr(comm, key, &value, &found) != MPI_SUCCESS) {
        return NULL;
    }
    return found ? value : NULL;
}

iso_cached_t *iso_comm_cache_first(MPI_Comm comm)
{
    const bundle_t *bundle = bundle_of(comm);
    return bundle != NULL ? bundle->first : NULL;
}

int iso_comm_cache_add(MPI_Comm comm, iso_cached_t *entry)
{
    int error = make_key();
    if (error != MPI_SUCCESS) {
        return error;
    }
    bundle_t *bundle = bundle_of(comm);
    if (bundle == NULL) {
        bundle = calloc(1, sizeof(*bundle));
        if (bundle == NULL) {
            return MPI_ERR_NO_MEM;
        }
        bundle->comm = comm;
        error = PMPI_Comm_set_attr(comm, key, bundle);
        if (error != MPI_SUCCESS) {
            free(bundle);
            return error;
        }
        join_ring(bundle);
    }
    entry->next = bundle->first;
    bundle->first = entry;
    return MPI_SUCCESS;
}
