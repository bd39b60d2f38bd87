/* SPDX-License-Identifier: BSD-3-Clause */
#include "messages/staged.h"

#include "base/check.h"

/** The transfer whose messages are staged: a process has one at a time. */
static const iso_transfer_t *transfer;

/** What to copy for each of its requests. */
enum direction { NOTHING, TO_HOST, TO_GPU };
static struct pending {
    char *message;
    enum direction copy;
    bool persistent;
} *pending;

void iso_staged_begin(const iso_transfer_t *t)
{
    transfer = t;
    free(pending);
    pending =
        iso_memory_staged() ? ISO_NEW(struct pending, 2 * t->window) : NULL;
}

/* --- copies -------------------------------------------------------------- */

static const iso_buffer_t *buffer_of(const char *message)
{
    const iso_buffer_t *sent = &transfer->sent;
    bool inside =
        message >= sent->at && message < sent->at + transfer->out_room;
    return inside ? sent : &transfer->received;
}

static char *image_of(char *message)
{
    const iso_buffer_t *buffer = buffer_of(message);
    return buffer->image + (message - buffer->at);
}

static void copy(char *message, enum direction direction)
{
    const iso_buffer_t *buffer = buffer_of(message);
    (direction == TO_HOST ? iso_buffer_read : iso_buffer_write)(
        buffer, (size_t)(message - buffer->at), transfer->message.extent);
}

static struct pending *pending_of(const MPI_Request *request)
{
    return &pending[request - transfer->requests];
}

/** Copy what has been received. */
static void complete(int count, const MPI_Request *requests)
{
    for (int k = 0; k < count; k++) {
        struct pending *p = pending_of(&requests[k]);
        if (p->copy == TO_GPU) {
            copy(p->message, TO_GPU);
        }
        p->copy = p->persistent ? p->copy : NOTHING;
    }
}

/* --- MPI, with these copies ---------------------------------------------- */

/** Answers of windows are empty, and not in these buffers. */
static int staged_send(void *message, int count, MPI_Datatype type, int to,
                       int tag, MPI_Comm comm)
{
    if (message) {
        copy(message, TO_HOST);
        message = image_of(message);
    }
    return MPI_Send(message, count, type, to, tag, comm);
}

static int staged_recv(void *message, int count, MPI_Datatype type, int from,
                       int tag, MPI_Comm comm, MPI_Status *status)
{
    void *image = message ? image_of(message) : NULL;
    int error = MPI_Recv(image, count, type, from, tag, comm, status);
    if (message) {
        copy(message, TO_GPU);
    }
    return error;
}

static int staged_sendrecv(char *out, int sent, MPI_Datatype type_sent, int to,
                           int tag_sent, char *in, int received,
                           MPI_Datatype type_received, int from,
                           int tag_received, MPI_Comm comm, MPI_Status *status)
{
    copy(out, TO_HOST);
    int error =
        MPI_Sendrecv(image_of(out), sent, type_sent, to, tag_sent, image_of(in),
                     received, type_received, from, tag_received, comm, status);
    copy(in, TO_GPU);
    return error;
}

static int staged_replace(char *message, int count, MPI_Datatype type, int to,
                          int tag_sent, int from, int tag_received,
                          MPI_Comm comm, MPI_Status *status)
{
    copy(message, TO_HOST);
    int error =
        MPI_Sendrecv_replace(image_of(message), count, type, to, tag_sent, from,
                             tag_received, comm, status);
    copy(message, TO_GPU);
    return error;
}

static int staged_isend(char *message, int count, MPI_Datatype type, int to,
                        int tag, MPI_Comm comm, MPI_Request *request)
{
    copy(message, TO_HOST);
    return MPI_Isend(image_of(message), count, type, to, tag, comm, request);
}

static int staged_irecv(char *message, int count, MPI_Datatype type, int from,
                        int tag, MPI_Comm comm, MPI_Request *request)
{
    *pending_of(request) = (struct pending){message, TO_GPU, false};
    return MPI_Irecv(image_of(message), count, type, from, tag, comm, request);
}

static int staged_send_init(char *message, int count, MPI_Datatype type, int to,
                            int tag, MPI_Comm comm, MPI_Request *request)
{
    *pending_of(request) = (struct pending){message, TO_HOST, true};
    return MPI_Send_init(image_of(message), count, type, to, tag, comm,
                         request);
}

static int staged_recv_init(char *message, int count, MPI_Datatype type,
                            int from, int tag, MPI_Comm comm,
                            MPI_Request *request)
{
    *pending_of(request) = (struct pending){message, TO_GPU, true};
    return MPI_Recv_init(image_of(message), count, type, from, tag, comm,
                         request);
}

static int staged_startall(int count, MPI_Request *requests)
{
    for (int k = 0; k < count; k++) {
        const struct pending *p = pending_of(&requests[k]);
        if (p->copy == TO_HOST) {
            copy(p->message, TO_HOST);
        }
    }
    return MPI_Startall(count, requests);
}

static int staged_waitall(int count, MPI_Request *requests,
                          MPI_Status *statuses)
{
    int error = MPI_Waitall(count, requests, statuses);
    complete(count, requests);
    return error;
}

static int staged_wait(MPI_Request *request, MPI_Status *status)
{
    int error = MPI_Wait(request, status);
    complete(1, request);
    return error;
}

/* --- the same loops with these ------------------------------------------- */

#define MPI_Send(...)             staged_send(__VA_ARGS__)
#define MPI_Recv(...)             staged_recv(__VA_ARGS__)
#define MPI_Sendrecv(...)         staged_sendrecv(__VA_ARGS__)
#define MPI_Sendrecv_replace(...) staged_replace(__VA_ARGS__)
#define MPI_Isend(...)            staged_isend(__VA_ARGS__)
#define MPI_Irecv(...)            staged_irecv(__VA_ARGS__)
#define MPI_Send_init(...)        staged_send_init(__VA_ARGS__)
#define MPI_Recv_init(...)        staged_recv_init(__VA_ARGS__)
#define MPI_Start(request)        staged_startall(1, request)
#define MPI_Startall(...)         staged_startall(__VA_ARGS__)
#define MPI_Wait(...)             staged_wait(__VA_ARGS__)
#define MPI_Waitall(...)          staged_waitall(__VA_ARGS__)
#define iso_modes                 iso_staged_modes

#include "messages/modes.c"

#undef iso_modes

const iso_mode_t *iso_mode_find(const char *name)
{
    const iso_mode_t *mode = iso_memory_staged() ? iso_staged_modes : iso_modes;
    while (strcmp(mode->name, name) != 0) {
        mode++; /* the option accepts no other name */
    }
    return mode;
}
