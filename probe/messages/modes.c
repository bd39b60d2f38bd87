/* SPDX-License-Identifier: BSD-3-Clause */
#include "messages/modes.h"

#include "base/check.h"
#include "messages/one_sided.h"
#include "messages/partitioned.h"

#define TAG_DATA ISO_TAG(t, 0)
#define TAG_ACK  ISO_TAG(t, 1)

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
            iso_transfer_walk(t);
        }
        seconds[k] = iso_now() - start;
        if (t->starts) {
            t->starts[k] = start;
        }
    }
}

static void blocking_answer(iso_transfer_t *t, long operations)
{
    const iso_message_t *m = &t->message;
    MPI_Comm comm = t->ctx->comm;
    for (long k = 0; k < operations; k++) {
        MPI_Recv(t->in + t->at, m->count, m->type, t->partner, TAG_DATA, comm,
                 MPI_STATUS_IGNORE);
        if (t->arrivals) {
            t->arrivals[k] = iso_now();
        }
        MPI_Send(t->out + t->at, m->count, m->type, t->partner, TAG_DATA, comm);
        iso_transfer_walk(t);
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
            iso_transfer_walk(t);
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
        iso_transfer_walk(t);
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
        iso_transfer_walk(t);
    }
}

static inline void exchange_by_sendrecv(iso_transfer_t *t)
{
    const iso_message_t *m = &t->message;
    for (int k = 0; k < EXCHANGES; k++) {
        MPI_Sendrecv(t->out + t->at, m->count, m->type, t->partner, TAG_DATA,
                     t->in + t->at, m->count, m->type, t->partner, TAG_DATA,
                     t->ctx->comm, MPI_STATUS_IGNORE);
        iso_transfer_walk(t);
    }
}

static inline void exchange_persistent(iso_transfer_t *t)
{
    int messages = 2 * (int)t->window;
    for (int k = 0; k < EXCHANGES; k++) {
        MPI_Startall(messages, t->requests);
        MPI_Waitall(messages, t->requests, MPI_STATUSES_IGNORE);
    }
}

/** The loops of a mode in which both ranks do the same. */
#define BOTH_WAYS(name, exchange, open, close)                                 \
    static void name##_lead(iso_transfer_t *t, long samples, long batch,       \
                            double *seconds)                                   \
    {                                                                          \
        open;                                                                  \
        for (long k = 0; k < samples; k++) {                                   \
            double start = iso_now();                                          \
            for (long b = 0; b < batch; b++) {                                 \
                exchange(t);                                                   \
            }                                                                  \
            seconds[k] = iso_now() - start;                                    \
        }                                                                      \
        close;                                                                 \
    }                                                                          \
    static void name##_answer(iso_transfer_t *t, long operations)              \
    {                                                                          \
        open;                                                                  \
        for (long k = 0; k < operations; k++) {                                \
            exchange(t);                                                       \
        }                                                                      \
        close;                                                                 \
    }

BOTH_WAYS(bidirectional, exchange, , )
BOTH_WAYS(sendrecv, exchange_by_sendrecv, , )
BOTH_WAYS(bidirectional_persistent, exchange_persistent, persistent_open(t),
          persistent_close(t))

static const char ONE_WAY[] = "half a round trip";

/** One way, both ways, and one-sided: the loops of these modes. */
#define ROUND_TRIP ONE_WAY, .parts = 2, .parts_window = 1, .writes = true
#define EXCHANGE                                                               \
    "exchange in both directions", .parts = EXCHANGES,                         \
        .parts_window = EXCHANGES, .writes = true, .both_ways = true
#define ONE_SIDED                                                              \
    .lead = iso_one_sided_lead, .answer = iso_one_sided_answer,                \
    .lead_window = iso_one_sided_lead, .answer_window = iso_one_sided_answer

const iso_mode_t iso_modes[] = {
    {"blocking", ROUND_TRIP, .lead = blocking_lead, .answer = blocking_answer,
     .lead_window = blocking_lead_window, .answer_window = answer_window},
    {"nonblocking", ROUND_TRIP, .lead = nonblocking_lead,
     .answer = nonblocking_answer, .lead_window = nonblocking_lead_window,
     .answer_window = answer_window},
    {"persistent", ROUND_TRIP, .fixed = true, .lead = persistent_lead,
     .answer = persistent_answer, .lead_window = persistent_lead_window,
     .answer_window = persistent_answer_window},
    {"partitioned", ROUND_TRIP, .fixed = true, .partitions = true,
     .lead = iso_partitioned_lead, .answer = iso_partitioned_answer},
    {"bidirectional", EXCHANGE, .lead = bidirectional_lead,
     .answer = bidirectional_answer, .lead_window = bidirectional_lead,
     .answer_window = bidirectional_answer},
    {"bidirectional_sendrecv", EXCHANGE, .lead = sendrecv_lead,
     .answer = sendrecv_answer},
    {"bidirectional_persistent", EXCHANGE, .fixed = true,
     .lead = bidirectional_persistent_lead,
     .answer = bidirectional_persistent_answer,
     .lead_window = bidirectional_persistent_lead,
     .answer_window = bidirectional_persistent_answer},
    {"put", "put", ONE_SIDED, .call = iso_put, .writes = true},
    {"get", "get", ONE_SIDED, .call = iso_get, .reads = true},
    {"bidirectional_put", "puts in both directions", ONE_SIDED, .call = iso_put,
     .writes = true, .both_ways = true},
    {"bidirectional_get", "gets in both directions", ONE_SIDED, .call = iso_get,
     .reads = true, .both_ways = true},
    {"accumulate", "accumulate", ONE_SIDED, .call = iso_accumulate,
     .writes = true, .adds = true},
    {"get_accumulate", "get_accumulate", ONE_SIDED, .call = iso_get_accumulate,
     .writes = true, .adds = true, .reads = true},
    {"fetch_and_op", "fetch_and_op", ONE_SIDED, .call = iso_fetch_and_op,
     .writes = true, .adds = true, .reads = true, .element = true},
    {"compare_and_swap", "compare_and_swap", ONE_SIDED,
     .call = iso_compare_and_swap, .writes = true, .reads = true,
     .element = true},
    {0},
};
