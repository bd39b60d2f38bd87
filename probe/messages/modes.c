/* SPDX-License-Identifier: BSD-3-Clause */
#include "messages/modes.h"

#include "base/check.h"
#include "messages/loops.h"
#include "messages/one_sided.h"
#include "messages/partitioned.h"

#define TAG_DATA ISO_TAG(t, 0)
#define TAG_ACK  ISO_TAG(t, 1)

static inline char *slot(iso_transfer_t *t, long k)
{
    return t->in + (size_t)k * t->message.extent;
}

/* --- one message ---------------------------------------------------------- */

static inline void send_receive(ISO_OPERATION)
{
    MPI_Send(t->out + t->at, m->count, m->type, t->partner, TAG_DATA, comm);
    MPI_Recv(t->in + t->at, m->count, m->type, t->source, TAG_DATA, comm,
             MPI_STATUS_IGNORE);
    iso_transfer_walk(t);
}

static inline void receive_send(ISO_OPERATION)
{
    MPI_Recv(t->in + t->at, m->count, m->type, t->source, TAG_DATA, comm,
             MPI_STATUS_IGNORE);
    if (t->arrivals) {
        t->arrivals[k] = iso_now();
    }
    MPI_Send(t->out + t->at, m->count, m->type, t->partner, TAG_DATA, comm);
    iso_transfer_walk(t);
}

static inline void irecv_isend(ISO_OPERATION)
{
    MPI_Irecv(t->in + t->at, m->count, m->type, t->source, TAG_DATA, comm,
              &r[0]);
    MPI_Isend(t->out + t->at, m->count, m->type, t->partner, TAG_DATA, comm,
              &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    iso_transfer_walk(t);
}

static inline void irecv_then_isend(ISO_OPERATION)
{
    MPI_Irecv(t->in + t->at, m->count, m->type, t->source, TAG_DATA, comm,
              &r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Isend(t->out + t->at, m->count, m->type, t->partner, TAG_DATA, comm,
              &r[1]);
    MPI_Wait(&r[1], MPI_STATUS_IGNORE);
    iso_transfer_walk(t);
}

static inline void start_both(ISO_OPERATION)
{
    MPI_Start(&r[0]);
    MPI_Start(&r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

static inline void start_in_turn(ISO_OPERATION)
{
    MPI_Start(&r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Start(&r[1]);
    MPI_Wait(&r[1], MPI_STATUS_IGNORE);
}

/** Set up the requests that the persistent loops start. */
static void persistent_open(iso_transfer_t *t)
{
    const iso_message_t *m = &t->message;
    for (long w = 0; w < t->window; w++) {
        MPI_CHECK(MPI_Recv_init(slot(t, w), m->count, m->type, t->source,
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

ISO_LOOPS(blocking, send_receive, receive_send, , )
ISO_LOOPS(nonblocking, irecv_isend, irecv_then_isend, , )
ISO_LOOPS(persistent, start_both, start_in_turn, persistent_open(t),
          persistent_close(t))

/* --- windows -------------------------------------------------------------- */

static inline void await_answer(const iso_transfer_t *t, MPI_Comm comm)
{
    MPI_Recv(NULL, 0, MPI_BYTE, t->partner, TAG_ACK, comm, MPI_STATUS_IGNORE);
}

static inline void send_window(ISO_OPERATION)
{
    for (long w = 0; w < t->window; w++) {
        MPI_Send(t->out, m->count, m->type, t->partner, TAG_DATA, comm);
    }
    await_answer(t, comm);
}

static inline void isend_window(ISO_OPERATION)
{
    for (long w = 0; w < t->window; w++) {
        MPI_Isend(t->out, m->count, m->type, t->partner, TAG_DATA, comm, &r[w]);
    }
    MPI_Waitall((int)t->window, r, MPI_STATUSES_IGNORE);
    await_answer(t, comm);
}

static inline void irecv_window(ISO_OPERATION)
{
    for (long w = 0; w < t->window; w++) {
        MPI_Irecv(slot(t, w), m->count, m->type, t->source, TAG_DATA, comm,
                  &r[w]);
    }
    MPI_Waitall((int)t->window, r, MPI_STATUSES_IGNORE);
    MPI_Send(NULL, 0, MPI_BYTE, t->partner, TAG_ACK, comm);
}

static inline void start_sends(ISO_OPERATION)
{
    int window = (int)t->window;
    MPI_Startall(window, r + window);
    MPI_Waitall(window, r + window, MPI_STATUSES_IGNORE);
    await_answer(t, comm);
}

static inline void start_receives(ISO_OPERATION)
{
    MPI_Startall((int)t->window, r);
    MPI_Waitall((int)t->window, r, MPI_STATUSES_IGNORE);
    MPI_Send(NULL, 0, MPI_BYTE, t->partner, TAG_ACK, comm);
}

ISO_LOOPS(blocking_window, send_window, irecv_window, , )
ISO_LOOPS(nonblocking_window, isend_window, irecv_window, , )
ISO_LOOPS(persistent_window, start_sends, start_receives, persistent_open(t),
          persistent_close(t))

/* --- both ways ------------------------------------------------------------ */

/**
 * Exchanges of an operation. A rank ends an exchange when its partner's
 * message is there, whether or not its own has arrived. So the two may be
 * shifted by half a phase, and every other exchange finds its message waiting.
 * Two in a row are a round trip: the partner sends the second time when it has
 * got the first.
 */
enum { EXCHANGES = 2 };

/** A window in each direction, EXCHANGES times. */
static inline void exchange(ISO_OPERATION)
{
    for (int e = 0; e < EXCHANGES; e++) {
        for (long w = 0; w < t->window; w++) {
            MPI_Irecv(slot(t, w) + t->at, m->count, m->type, t->source,
                      TAG_DATA, comm, &r[w]);
        }
        for (long w = 0; w < t->window; w++) {
            MPI_Isend(t->out + t->at, m->count, m->type, t->partner, TAG_DATA,
                      comm, &r[t->window + w]);
        }
        MPI_Waitall((int)(2 * t->window), r, MPI_STATUSES_IGNORE);
        iso_transfer_walk(t);
    }
}

static inline void exchange_by_sendrecv(ISO_OPERATION)
{
    for (int e = 0; e < EXCHANGES; e++) {
        MPI_Sendrecv(t->out + t->at, m->count, m->type, t->partner, TAG_DATA,
                     t->in + t->at, m->count, m->type, t->source, TAG_DATA,
                     comm, MPI_STATUS_IGNORE);
        iso_transfer_walk(t);
    }
}

/** The first time what is sent, the second time what has been received: at the
 *  end, both ranks have what their partner had in its receive buffer. */
static inline void exchange_in_place(ISO_OPERATION)
{
    char *const buffers[EXCHANGES] = {t->out, t->in};
    for (int e = 0; e < EXCHANGES; e++) {
        MPI_Sendrecv_replace(buffers[e] + t->at, m->count, m->type, t->partner,
                             TAG_DATA, t->source, TAG_DATA, comm,
                             MPI_STATUS_IGNORE);
    }
    iso_transfer_walk(t);
}

static inline void exchange_persistent(ISO_OPERATION)
{
    int messages = 2 * (int)t->window;
    for (int e = 0; e < EXCHANGES; e++) {
        MPI_Startall(messages, r);
        MPI_Waitall(messages, r, MPI_STATUSES_IGNORE);
    }
}

ISO_LOOPS(bidirectional, exchange, exchange, , )
ISO_LOOPS(sendrecv, exchange_by_sendrecv, exchange_by_sendrecv, , )
ISO_LOOPS(sendrecv_replace, exchange_in_place, exchange_in_place, , )
ISO_LOOPS(bidirectional_persistent, exchange_persistent, exchange_persistent,
          persistent_open(t), persistent_close(t))

static const char ONE_WAY[] = "half a round trip";

/** One way, both ways, and one-sided: the loops of these modes. */
#define ROUND_TRIP ONE_WAY, .parts = 2, .parts_window = 1, .writes = true
#define MUTUAL                                                                 \
    "exchange in both directions", .parts = EXCHANGES,                         \
        .parts_window = EXCHANGES, .both_ways = true
#define EXCHANGE       MUTUAL, .writes = true
#define LOOPS_OF(name) .lead = name##_lead, .answer = name##_answer
#define WINDOWS_OF(name)                                                       \
    .lead_window = name##_lead, .answer_window = name##_answer
#define ONE_SIDED LOOPS_OF(iso_one_sided), WINDOWS_OF(iso_one_sided)

const iso_mode_t iso_modes[] = {
    {"blocking", ROUND_TRIP, LOOPS_OF(blocking), WINDOWS_OF(blocking_window)},
    {"nonblocking", ROUND_TRIP, LOOPS_OF(nonblocking),
     WINDOWS_OF(nonblocking_window)},
    {"persistent", ROUND_TRIP, .fixed = true, LOOPS_OF(persistent),
     WINDOWS_OF(persistent_window)},
    {"partitioned", ROUND_TRIP, .fixed = true, .partitions = true,
     LOOPS_OF(iso_partitioned)},
    {"bidirectional", EXCHANGE, LOOPS_OF(bidirectional),
     WINDOWS_OF(bidirectional)},
    {"bidirectional_sendrecv", EXCHANGE, LOOPS_OF(sendrecv)},
    {"bidirectional_sendrecv_replace", MUTUAL, .reads = true,
     LOOPS_OF(sendrecv_replace)},
    {"bidirectional_persistent", EXCHANGE, .fixed = true,
     LOOPS_OF(bidirectional_persistent), WINDOWS_OF(bidirectional_persistent)},
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
