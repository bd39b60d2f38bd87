/* SPDX-License-Identifier: BSD-3-Clause */
#include "messages/modes.h"

#include "base/check.h"

/* Far from the tags that experiments use for their own messages. Each thread of
 * a transfer t has tags of its own. */
enum { FIRST_TAG = 1102, TAGS = 3 };
#define TAG_DATA (FIRST_TAG + TAGS * t->thread)
#define TAG_ACK  (TAG_DATA + 1)
#define TAG_DONE (TAG_DATA + 2)

/** The next message lies elsewhere, if the cache is to be cold. */
static inline void walk(iso_transfer_t *t)
{
    t->at = t->at + t->step > t->last ? 0 : t->at + t->step;
}

static inline char *slot(iso_transfer_t *t, long k)
{
    return t->in + (size_t)k * t->message.extent;
}

static void blocking_lead(iso_transfer_t *t, long samples, long batch,
                          double *seconds)
{
    const iso_message_t *m = &t->message;
    MPI_Comm comm = t->ctx->comm;
    for (long k = 0; k < samples; k++) {
        double start = iso_now();
        for (long b = 0; b < batch; b++) {
            MPI_Send(t->out + t->at, m->count, m->type, t->partner, TAG_DATA,
                     comm);
            MPI_Recv(t->in + t->at, m->count, m->type, t->partner, TAG_DATA,
                     comm, MPI_STATUS_IGNORE);
            walk(t);
        }
        seconds[k] = iso_now() - start;
    }
}

static void blocking_answer(iso_transfer_t *t, long operations)
{
    const iso_message_t *m = &t->message;
    MPI_Comm comm = t->ctx->comm;
    for (long k = 0; k < operations; k++) {
        MPI_Recv(t->in + t->at, m->count, m->type, t->partner, TAG_DATA, comm,
                 MPI_STATUS_IGNORE);
        MPI_Send(t->out + t->at, m->count, m->type, t->partner, TAG_DATA, comm);
        walk(t);
    }
}

static void nonblocking_lead(iso_transfer_t *t, long samples, long batch,
                             double *seconds)
{
    const iso_message_t *m = &t->message;
    MPI_Comm comm = t->ctx->comm;
    MPI_Request *r = t->requests;
    for (long k = 0; k < samples; k++) {
        double start = iso_now();
        for (long b = 0; b < batch; b++) {
            MPI_Irecv(t->in + t->at, m->count, m->type, t->partner, TAG_DATA,
                      comm, &r[0]);
            MPI_Isend(t->out + t->at, m->count, m->type, t->partner, TAG_DATA,
                      comm, &r[1]);
            MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
            walk(t);
        }
        seconds[k] = iso_now() - start;
    }
}

static void nonblocking_answer(iso_transfer_t *t, long operations)
{
    const iso_message_t *m = &t->message;
    MPI_Comm comm = t->ctx->comm;
    MPI_Request *r = t->requests;
    for (long k = 0; k < operations; k++) {
        MPI_Irecv(t->in + t->at, m->count, m->type, t->partner, TAG_DATA, comm,
                  &r[0]);
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        MPI_Isend(t->out + t->at, m->count, m->type, t->partner, TAG_DATA, comm,
                  &r[1]);
        MPI_Wait(&r[1], MPI_STATUS_IGNORE);
        walk(t);
    }
}

/** Set up the requests that the persistent loops start. */
static void persistent_open(iso_transfer_t *t)
{
    const iso_message_t *m = &t->message;
    for (long w = 0; w < t->window; w++) {
        MPI_CHECK(MPI_Recv_init(slot(t, w), m->count, m->type, t->partner,
                                TAG_DATA, t->ctx->comm, &t->requests[w]));
        MPI_CHECK(MPI_Send_init(t->out, m->count, m->type, t->partner, TAG_DATA,
                                t->ctx->comm, &t->requests[t->window + w]));
    }
}

static void persistent_close(iso_transfer_t *t)
{
    for (long r = 0; r < 2 * t->window; r++) {
        MPI_CHECK(MPI_Request_free(&t->requests[r]));
    }
}

static void persistent_lead(iso_transfer_t *t, long samples, long batch,
                            double *seconds)
{
    MPI_Request *r = t->requests;
    persistent_open(t);
    for (long k = 0; k < samples; k++) {
        double start = iso_now();
        for (long b = 0; b < batch; b++) {
            MPI_Start(&r[0]);
            MPI_Start(&r[1]);
            MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        }
        seconds[k] = iso_now() - start;
    }
    persistent_close(t);
}

static void persistent_answer(iso_transfer_t *t, long operations)
{
    MPI_Request *r = t->requests;
    persistent_open(t);
    for (long k = 0; k < operations; k++) {
        MPI_Start(&r[0]);
        MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        MPI_Start(&r[1]);
        MPI_Wait(&r[1], MPI_STATUS_IGNORE);
    }
    persistent_close(t);
}

static void blocking_lead_window(iso_transfer_t *t, long samples, long batch,
                                 double *seconds)
{
    const iso_message_t *m = &t->message;
    MPI_Comm comm = t->ctx->comm;
    for (long k = 0; k < samples; k++) {
        double start = iso_now();
        for (long b = 0; b < batch; b++) {
            for (long w = 0; w < t->window; w++) {
                MPI_Send(t->out, m->count, m->type, t->partner, TAG_DATA, comm);
            }
            MPI_Recv(NULL, 0, MPI_BYTE, t->partner, TAG_ACK, comm,
                     MPI_STATUS_IGNORE);
        }
        seconds[k] = iso_now() - start;
    }
}

static void nonblocking_lead_window(iso_transfer_t *t, long samples, long batch,
                                    double *seconds)
{
    const iso_message_t *m = &t->message;
    MPI_Comm comm = t->ctx->comm;
    for (long k = 0; k < samples; k++) {
        double start = iso_now();
        for (long b = 0; b < batch; b++) {
            for (long w = 0; w < t->window; w++) {
                MPI_Isend(t->out, m->count, m->type, t->partner, TAG_DATA, comm,
                          &t->requests[w]);
            }
            MPI_Waitall((int)t->window, t->requests, MPI_STATUSES_IGNORE);
            MPI_Recv(NULL, 0, MPI_BYTE, t->partner, TAG_ACK, comm,
                     MPI_STATUS_IGNORE);
        }
        seconds[k] = iso_now() - start;
    }
}

static void answer_window(iso_transfer_t *t, long operations)
{
    const iso_message_t *m = &t->message;
    MPI_Comm comm = t->ctx->comm;
    for (long k = 0; k < operations; k++) {
        for (long w = 0; w < t->window; w++) {
            MPI_Irecv(slot(t, w), m->count, m->type, t->partner, TAG_DATA, comm,
                      &t->requests[w]);
        }
        MPI_Waitall((int)t->window, t->requests, MPI_STATUSES_IGNORE);
        MPI_Send(NULL, 0, MPI_BYTE, t->partner, TAG_ACK, comm);
    }
}

static void persistent_lead_window(iso_transfer_t *t, long samples, long batch,
                                   double *seconds)
{
    MPI_Comm comm = t->ctx->comm;
    int window = (int)t->window;
    MPI_Request *sends = t->requests + window;
    persistent_open(t);
    for (long k = 0; k < samples; k++) {
        double start = iso_now();
        for (long b = 0; b < batch; b++) {
            MPI_Startall(window, sends);
            MPI_Waitall(window, sends, MPI_STATUSES_IGNORE);
            MPI_Recv(NULL, 0, MPI_BYTE, t->partner, TAG_ACK, comm,
                     MPI_STATUS_IGNORE);
        }
        seconds[k] = iso_now() - start;
    }
    persistent_close(t);
}

static void persistent_answer_window(iso_transfer_t *t, long operations)
{
    int window = (int)t->window;
    persistent_open(t);
    for (long k = 0; k < operations; k++) {
        MPI_Startall(window, t->requests);
        MPI_Waitall(window, t->requests, MPI_STATUSES_IGNORE);
        MPI_Send(NULL, 0, MPI_BYTE, t->partner, TAG_ACK, t->ctx->comm);
    }
    persistent_close(t);
}

/**
 * Exchanges of an operation. A rank ends an exchange when its partner's
 * message is there, whether or not its own has arrived. So the two may be
 * shifted by half a phase, and every other exchange finds its message waiting.
 * Two in a row are a round trip: the partner sends the second time when it has
 * got the first.
 */
enum { EXCHANGES = 2 };

/** A window in each direction, EXCHANGES times. */
static inline void exchange(iso_transfer_t *t)
{
    const iso_message_t *m = &t->message;
    MPI_Comm comm = t->ctx->comm;
    for (int k = 0; k < EXCHANGES; k++) {
        MPI_Request *r = t->requests;
        for (long w = 0; w < t->window; w++) {
            MPI_Irecv(slot(t, w) + t->at, m->count, m->type, t->partner,
                      TAG_DATA, comm, r++);
        }
        for (long w = 0; w < t->window; w++) {
            MPI_Isend(t->out + t->at, m->count, m->type, t->partner, TAG_DATA,
                      comm, r++);
        }
        MPI_Waitall((int)(2 * t->window), t->requests, MPI_STATUSES_IGNORE);
        walk(t);
    }
}

static void bidirectional_lead(iso_transfer_t *t, long samples, long batch,
                               double *seconds)
{
    for (long k = 0; k < samples; k++) {
        double start = iso_now();
        for (long b = 0; b < batch; b++) {
            exchange(t);
        }
        seconds[k] = iso_now() - start;
    }
}

static void bidirectional_answer(iso_transfer_t *t, long operations)
{
    for (long k = 0; k < operations; k++) {
        exchange(t);
    }
}

static void put_lead(iso_transfer_t *t, long samples, long batch,
                     double *seconds)
{
    const iso_message_t *m = &t->message;
    MPI_CHECK(MPI_Win_lock(MPI_LOCK_SHARED, t->partner, 0, t->exposed));
    for (long k = 0; k < samples; k++) {
        double start = iso_now();
        for (long b = 0; b < batch; b++) {
            for (long w = 0; w < t->window; w++) {
                MPI_Put(t->out + t->at, m->count, m->type, t->partner,
                        slot(t, w) + t->at - t->in, m->count, m->type,
                        t->exposed);
            }
            MPI_Win_flush(t->partner, t->exposed);
            walk(t);
        }
        seconds[k] = iso_now() - start;
    }
    MPI_CHECK(MPI_Win_unlock(t->partner, t->exposed));
    MPI_CHECK(
        MPI_Send(NULL, 0, MPI_BYTE, t->partner, TAG_DONE, t->ctx->control));
}

static void get_lead(iso_transfer_t *t, long samples, long batch,
                     double *seconds)
{
    const iso_message_t *m = &t->message;
    MPI_CHECK(MPI_Win_lock(MPI_LOCK_SHARED, t->partner, 0, t->exposed));
    for (long k = 0; k < samples; k++) {
        double start = iso_now();
        for (long b = 0; b < batch; b++) {
            for (long w = 0; w < t->window; w++) {
                MPI_Get(slot(t, w) + t->at, m->count, m->type, t->partner,
                        (MPI_Aint)t->at, m->count, m->type, t->exposed);
            }
            MPI_Win_flush(t->partner, t->exposed);
            walk(t);
        }
        seconds[k] = iso_now() - start;
    }
    MPI_CHECK(MPI_Win_unlock(t->partner, t->exposed));
    MPI_CHECK(
        MPI_Send(NULL, 0, MPI_BYTE, t->partner, TAG_DONE, t->ctx->control));
}

/** The target of put and get: inside MPI, so that it can make progress. */
static void wait_until_done(iso_transfer_t *t, long operations)
{
    (void)operations;
    MPI_CHECK(MPI_Recv(NULL, 0, MPI_BYTE, t->partner, TAG_DONE, t->ctx->control,
                       MPI_STATUS_IGNORE));
}

static const char ONE_WAY[] = "half a round trip";

const iso_mode_t iso_modes[] = {
    {"blocking", ONE_WAY, 2, 1, blocking_lead, blocking_answer,
     blocking_lead_window, answer_window},
    {"nonblocking", ONE_WAY, 2, 1, nonblocking_lead, nonblocking_answer,
     nonblocking_lead_window, answer_window},
    {"persistent", ONE_WAY, 2, 1, persistent_lead, persistent_answer,
     persistent_lead_window, persistent_answer_window},
    {"bidirectional", "exchange in both directions", EXCHANGES, EXCHANGES,
     bidirectional_lead, bidirectional_answer, bidirectional_lead,
     bidirectional_answer},
    {"put", "put until complete", 1, 1, put_lead, wait_until_done, put_lead,
     wait_until_done},
    {"get", "get until complete", 1, 1, get_lead, wait_until_done, get_lead,
     wait_until_done},
    {0},
};

bool iso_mode_one_sided(const iso_mode_t *mode)
{
    return mode->answer == wait_until_done;
}
