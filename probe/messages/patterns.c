/* SPDX-License-Identifier: BSD-3-Clause */
#include "messages/patterns.h"

#include "base/check.h"
#include "messages/transfer.h"

/* --- messages ------------------------------------------------------------ */

#define MESSAGES(name, Receive, Send)                                          \
    void name(const iso_call_t *c)                                             \
    {                                                                          \
        const iso_blocks_t *in = c->received, *out = c->sent;                  \
        MPI_Request *request = c->requests;                                    \
        for (int k = 0; k < in->number; k++) {                                 \
            Receive((char *)c->receive + in->offsets[k], in->counts[k],        \
                    c->type, in->peers[k], ISO_FIRST_TAG, c->comm, request++); \
        }                                                                      \
        for (int k = 0; k < out->number; k++) {                                \
            Send((const char *)c->send + out->offsets[k], out->counts[k],      \
                 c->type, out->peers[k], ISO_FIRST_TAG, c->comm, request++);   \
        }                                                                      \
    }
MESSAGES(iso_exchange_begin, MPI_Irecv, MPI_Isend)
MESSAGES(iso_exchange_init, MPI_Recv_init, MPI_Send_init)

void iso_exchange_start(const iso_call_t *c)
{
    MPI_Startall(iso_exchange_messages(c), c->requests);
}

void iso_exchange(const iso_call_t *c)
{
    iso_exchange_begin(c);
    MPI_Waitall(iso_exchange_messages(c), c->requests, MPI_STATUSES_IGNORE);
}

/* --- accesses ------------------------------------------------------------ */

bool iso_pattern_accesses(const iso_operation_t *o, bool puts)
{
    bool equal = !o->empty && !o->reduces && !o->varying && !o->in_one_buffer;
    return equal && o->neighbors == o->by_messages &&
           (!o->rooted || puts != o->root_receives);
}

/** Move all blocks between the calling rank and others; not all origins begin
 *  with the same target. */
static void access_all(const iso_call_t *c, bool puts)
{
    const iso_operation_t *o = c->operation;
    const iso_blocks_t *blocks = puts ? c->sent : c->received;
    int rank, ranks;
    MPI_Comm_rank(c->comm, &rank);
    MPI_Comm_size(c->comm, &ranks);
    int number = o->rooted && rank != c->root ? 0
                 : blocks                     ? blocks->number
                                              : ranks;
    bool here_all = puts ? o->sends_all : o->receives_all;
    bool there_all = puts ? o->receives_all : o->sends_all;
    for (int n = 0; n < number; n++) {
        int k = (rank + n) % number;
        int peer = blocks ? blocks->peers[k] : k;
        int place = blocks ? blocks->mirrored ? k ^ 1 : k : rank;
        MPI_Aint here = here_all ? k * c->block : 0;
        MPI_Aint there = there_all ? place * c->block : 0;
        if (puts) {
            MPI_Put((const char *)c->send + here, c->count, c->type, peer,
                    there, c->count, c->type, *c->window);
        } else {
            MPI_Get((char *)c->receive + here, c->count, c->type, peer, there,
                    c->count, c->type, *c->window);
        }
    }
}

#define ACCESSES(name, puts, flush)                                            \
    void name(const iso_call_t *c)                                             \
    {                                                                          \
        access_all(c, puts);                                                   \
        flush(*c->window);                                                     \
    }
ACCESSES(iso_put_all, true, MPI_Win_flush_all)
ACCESSES(iso_put_all_local, true, MPI_Win_flush_local_all)
ACCESSES(iso_get_all, false, MPI_Win_flush_all)
ACCESSES(iso_get_all_local, false, MPI_Win_flush_local_all)

void iso_pattern_expose(const iso_call_t *c, bool puts)
{
    const iso_blocks_t *blocks = puts ? c->received : c->sent;
    bool all = puts ? c->operation->receives_all : c->operation->sends_all;
    void *memory = puts ? c->receive : (void *)c->send;
    int ranks;
    MPI_CHECK(MPI_Comm_size(c->comm, &ranks));
    MPI_Aint room = c->block * (blocks ? blocks->number : all ? ranks : 1);
    MPI_CHECK(
        MPI_Win_create(memory, room, 1, MPI_INFO_NULL, c->comm, c->window));
    MPI_CHECK(MPI_Win_lock_all(0, *c->window));
}

void iso_pattern_withdraw(MPI_Win *window)
{
    if (*window != MPI_WIN_NULL) {
        MPI_CHECK(MPI_Win_unlock_all(*window));
        MPI_CHECK(MPI_Win_free(window));
    }
}

void iso_pattern_settle(const iso_call_t *c)
{
    MPI_CHECK(MPI_Win_flush_all(*c->window));
    MPI_CHECK(MPI_Barrier(c->comm));
    MPI_CHECK(MPI_Win_sync(*c->window));
}
