/* SPDX-License-Identifier: BSD-3-Clause */
#include "recorder/requests.h"

#include "preload/process.h"
#include "recording/map.h"

#include <string.h>

typedef struct {
    iso_key_t key;
    long open; /**< how many of this handle */
    bool persistent;
    iso_event_t event; /**< of a persistent one */
} iso_request_t;

typedef struct {
    iso_key_t key;
    int source;
} iso_matched_t;

static struct {
    iso_map_t requests, matched;
} state[ISO_PROCESSES];
#define requests (state[iso_process()].requests)
#define matched  (state[iso_process()].matched)

/** A handle as a number: it is a pointer, or an integer. */
#define NUMBER_OF(handle, number)                                              \
    int64_t number = 0;                                                        \
    memcpy(&number, &(handle), sizeof(handle))

void iso_requests_begin(void)
{
    requests = iso_map(sizeof(iso_request_t));
    matched = iso_map(sizeof(iso_matched_t));
}

void iso_requests_end(void)
{
    iso_map_free(&requests);
    iso_map_free(&matched);
}

void iso_requests_open(MPI_Request request)
{
    NUMBER_OF(request, number);
    if (request != MPI_REQUEST_NULL) {
        iso_request_t *entry = iso_map_get(&requests, number, 0, 0);
        entry->open++;
    }
}

void iso_requests_keep(MPI_Request request, const iso_event_t *event)
{
    NUMBER_OF(request, number);
    iso_request_t *entry = iso_map_get(&requests, number, 0, 0);
    entry->persistent = true;
    entry->event = *event;
}

const iso_event_t *iso_requests_start(MPI_Request request)
{
    NUMBER_OF(request, number);
    iso_request_t *entry = iso_map_find(&requests, number, 0, 0);
    if (entry == NULL || !entry->persistent) {
        return NULL;
    }
    entry->open++;
    return &entry->event;
}

bool iso_requests_complete(MPI_Request request)
{
    NUMBER_OF(request, number);
    iso_request_t *entry = iso_map_find(&requests, number, 0, 0);
    if (entry == NULL || entry->open == 0) {
        return false;
    }
    entry->open--;
    if (entry->open == 0 && !entry->persistent) {
        iso_map_remove(&requests, entry);
    }
    return true;
}

long iso_requests_forget(MPI_Request request)
{
    NUMBER_OF(request, number);
    iso_request_t *entry = iso_map_find(&requests, number, 0, 0);
    long open = entry ? entry->open : 0;
    if (entry && !entry->persistent && open > 1) {
        entry->open--;
        return 1;
    }
    if (entry) {
        iso_map_remove(&requests, entry);
    }
    return open;
}

bool iso_requests_is_open(MPI_Request request)
{
    NUMBER_OF(request, number);
    const iso_request_t *entry = iso_map_find(&requests, number, 0, 0);
    return entry && entry->open > 0;
}

void iso_matched_store(MPI_Message message, int source)
{
    NUMBER_OF(message, number);
    iso_matched_t *entry = iso_map_get(&matched, number, 0, 0);
    entry->source = source;
}

int iso_matched_take(MPI_Message message)
{
    NUMBER_OF(message, number);
    iso_matched_t *entry = iso_map_find(&matched, number, 0, 0);
    int source = entry ? entry->source : ISO_NONE;
    if (entry) {
        iso_map_remove(&matched, entry);
    }
    return source;
}
