/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "messages/partitioned.h"

#include "base/check.h"
#include "messages/loops.h"

#include <dlfcn.h>

enum { RECEIVE = 0, SEND = 1 };
#define TAG_PARTITIONS ISO_TAG(t, 3)

static struct {
    int (*send_init)(const void *, int, MPI_Count, MPI_Datatype, int, int,
                     MPI_Comm, MPI_Info, MPI_Request *);
    int (*receive_init)(void *, int, MPI_Count, MPI_Datatype, int, int,
                        MPI_Comm, MPI_Info, MPI_Request *);
    int (*ready)(int, MPI_Request);
} mpi;

bool iso_partitioned_exists(void)
{
    *(void **)&mpi.send_init = dlsym(RTLD_DEFAULT, "MPI_Psend_init");
    *(void **)&mpi.receive_init = dlsym(RTLD_DEFAULT, "MPI_Precv_init");
    *(void **)&mpi.ready = dlsym(RTLD_DEFAULT, "MPI_Pready");
    return mpi.send_init && mpi.receive_init && mpi.ready;
}

static void make_requests(iso_transfer_t *t)
{
    int n = t->partitions;
    MPI_CHECK(mpi.receive_init(t->in, n, t->message.bytes / n, MPI_BYTE,
                               t->partner, TAG_PARTITIONS, t->ctx->comm,
                               MPI_INFO_NULL, &t->requests[RECEIVE]));
    MPI_CHECK(mpi.send_init(t->out, n, t->message.bytes / n, MPI_BYTE,
                            t->partner, TAG_PARTITIONS, t->ctx->comm,
                            MPI_INFO_NULL, &t->requests[SEND]));
}

static void free_requests(iso_transfer_t *t)
{
    MPI_CHECK(MPI_Request_free(&t->requests[RECEIVE]));
    MPI_CHECK(MPI_Request_free(&t->requests[SEND]));
}

/** Say that the partitions from one to before another are ready. */
static inline void ready(iso_transfer_t *t, int from, int to)
{
    for (int p = from; p < to; p++) {
        mpi.ready(p, t->requests[SEND]);
    }
}

static inline void send_and_receive(ISO_OPERATION)
{
    MPI_Start(&r[RECEIVE]);
    MPI_Start(&r[SEND]);
    ready(t, 0, t->partitions);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

static inline void receive_and_send(ISO_OPERATION)
{
    MPI_Start(&r[RECEIVE]);
    MPI_Wait(&r[RECEIVE], MPI_STATUS_IGNORE);
    MPI_Start(&r[SEND]);
    ready(t, 0, t->partitions);
    MPI_Wait(&r[SEND], MPI_STATUS_IGNORE);
}

/** Let the library work for some time. Whether partitions arrive in it is not
 *  asked: some libraries send nothing before all are ready, and Open MPI 5.0
 *  may hang after MPI_Parrived. */
static void work(iso_transfer_t *t, double seconds)
{
    int all;
    double start = iso_now();
    while (iso_now() - start < seconds) {
        MPI_Test(&t->requests[RECEIVE], &all, MPI_STATUS_IGNORE);
    }
}

static void lead_early(iso_transfer_t *t, long samples, long batch,
                       double *seconds)
{
    int last = t->partitions - 1;
    make_requests(t);
    double began = iso_now();
    send_and_receive(t, &t->message, t->ctx->comm, t->requests, 0);
    double round_trip = iso_now() - began;
    for (long k = 0; k < samples; k++) {
        seconds[k] = 0;
        for (long b = 0; b < batch; b++) {
            MPI_Start(&t->requests[RECEIVE]);
            MPI_Start(&t->requests[SEND]);
            ready(t, 0, last);
            work(t, round_trip);
            double start = iso_now();
            ready(t, last, t->partitions);
            MPI_Waitall(2, t->requests, MPI_STATUSES_IGNORE);
            seconds[k] += iso_now() - start;
        }
    }
    free_requests(t);
}

static void answer_early(iso_transfer_t *t, long operations)
{
    int last = t->partitions - 1;
    make_requests(t);
    receive_and_send(t, &t->message, t->ctx->comm, t->requests, 0);
    for (long k = 0; k < operations; k++) {
        MPI_Start(&t->requests[RECEIVE]);
        MPI_Start(&t->requests[SEND]);
        ready(t, 0, last);
        MPI_Wait(&t->requests[RECEIVE], MPI_STATUS_IGNORE);
        ready(t, last, t->partitions);
        MPI_Wait(&t->requests[SEND], MPI_STATUS_IGNORE);
    }
    free_requests(t);
}

ISO_LOOPS(together, send_and_receive, receive_and_send, make_requests(t),
          free_requests(t))

void iso_partitioned_lead(iso_transfer_t *t, long samples, long batch,
                          double *seconds)
{
    (t->early ? lead_early : together_lead)(t, samples, batch, seconds);
}

void iso_partitioned_answer(iso_transfer_t *t, long operations)
{
    (t->early ? answer_early : together_answer)(t, operations);
}
