/* SPDX-License-Identifier: BSD-3-Clause */
#include "messages/one_sided.h"

#include "base/check.h"
#include "machine/computation.h"
#include "machine/own_collectives.h"

#define TAG_DONE ISO_TAG(t, 2)

/* --- calls --------------------------------------------------------------- */

static inline MPI_Aint offset(const iso_transfer_t *t, long w)
{
    return (MPI_Aint)(t->at + (size_t)w * t->message.extent);
}

void iso_put(iso_transfer_t *t, long w)
{
    const iso_message_t *m = &t->message;
    MPI_Put(t->out + t->at, m->count, m->type, t->partner,
            t->base + offset(t, w), m->count, m->type, t->exposed);
}

void iso_get(iso_transfer_t *t, long w)
{
    const iso_message_t *m = &t->message;
    MPI_Get(t->fetched + offset(t, w), m->count, m->type, t->partner,
            t->base + (MPI_Aint)t->at, m->count, m->type, t->exposed);
}

void iso_accumulate(iso_transfer_t *t, long w)
{
    const iso_message_t *m = &t->message;
    MPI_Accumulate(t->out + t->at, m->count, m->type, t->partner,
                   t->base + offset(t, w), m->count, m->type, MPI_SUM,
                   t->exposed);
}

void iso_get_accumulate(iso_transfer_t *t, long w)
{
    const iso_message_t *m = &t->message;
    MPI_Get_accumulate(t->out + t->at, m->count, m->type,
                       t->fetched + offset(t, w), m->count, m->type, t->partner,
                       t->base + offset(t, w), m->count, m->type, MPI_SUM,
                       t->exposed);
}

void iso_fetch_and_op(iso_transfer_t *t, long w)
{
    MPI_Fetch_and_op(t->out + t->at, t->fetched + offset(t, w), MPI_INT64_T,
                     t->partner, t->base + offset(t, w), MPI_SUM, t->exposed);
}

void iso_compare_and_swap(iso_transfer_t *t, long w)
{
    MPI_Compare_and_swap(t->out + t->at, &t->compared,
                         t->fetched + offset(t, w), MPI_INT64_T, t->partner,
                         t->base + offset(t, w), t->exposed);
}

/* --- synchronisations ---------------------------------------------------- */

#define SYNCHRONISE(name, ...)                                                 \
    static void name(iso_transfer_t *t)                                        \
    {                                                                          \
        __VA_ARGS__;                                                           \
    }

SYNCHRONISE(lock, MPI_Win_lock(MPI_LOCK_SHARED, t->partner, 0, t->exposed))
SYNCHRONISE(unlock, MPI_Win_unlock(t->partner, t->exposed))
SYNCHRONISE(lock_all, MPI_Win_lock_all(0, t->exposed))
SYNCHRONISE(unlock_all, MPI_Win_unlock_all(t->exposed))
SYNCHRONISE(flush, MPI_Win_flush(t->partner, t->exposed))
SYNCHRONISE(flush_local, MPI_Win_flush_local(t->partner, t->exposed))
SYNCHRONISE(first_fence, MPI_Win_fence(MPI_MODE_NOPRECEDE, t->exposed))
SYNCHRONISE(fence, MPI_Win_fence(0, t->exposed))
SYNCHRONISE(last_fence, MPI_Win_fence(MPI_MODE_NOSUCCEED, t->exposed))
SYNCHRONISE(free_group, MPI_CHECK(MPI_Group_free(&t->group)))
SYNCHRONISE(start, MPI_Win_start(t->group, 0, t->exposed))
SYNCHRONISE(complete, MPI_Win_complete(t->exposed))
SYNCHRONISE(post, MPI_Win_post(t->group, 0, t->exposed))
SYNCHRONISE(wait_for_complete, MPI_Win_wait(t->exposed))

static void make_group(iso_transfer_t *t)
{
    MPI_Group all;
    MPI_CHECK(MPI_Win_get_group(t->exposed, &all));
    MPI_CHECK(MPI_Group_incl(all, 1, &t->partner, &t->group));
    MPI_CHECK(MPI_Group_free(&all));
}

const iso_epoch_t iso_epochs[] = {
    {"flush", "until complete", .open = lock, .end = flush, .close = unlock},
    {"flush_local", "until its buffer is free", .open = lock,
     .end = flush_local, .close = unlock},
    {"lock", "with lock and unlock", .begin = lock, .end = unlock},
    {"lock_all", "with lock_all and unlock_all", .begin = lock_all,
     .end = unlock_all},
    {"fence", "with a fence", .active = true, .open = first_fence, .end = fence,
     .close = last_fence, .await = fence},
    {"pscw", "with post, start, complete and wait", .active = true,
     .open = make_group, .begin = start, .end = complete, .close = free_group,
     .expose = post, .await = wait_for_complete},
    {0},
};

/* --- windows ------------------------------------------------------------- */

void iso_one_sided_expose(iso_transfer_t *t, const char *kind)
{
    MPI_Comm comm = t->ctx->comm;
    MPI_Aint room = (MPI_Aint)t->in_room, base = 0;
    bool writes = t->mode->writes;
    t->region = writes ? t->in : t->out;
    if (writes && t->mode->reads) {
        t->fetch = iso_buffer_create(t->in_room, ISO_RECEIVED);
        iso_buffer_touch(&t->fetch, t->in_room);
        t->fetched = t->fetch.at;
    }
    memset(&t->compared, 1, sizeof(t->compared));
    if (strcmp(kind, "allocate") == 0) {
        MPI_CHECK(MPI_Win_allocate(room, 1, MPI_INFO_NULL, comm, &t->region,
                                   &t->exposed));
    } else if (strcmp(kind, "shared") == 0) {
        MPI_CHECK(MPI_Win_allocate_shared(room, 1, MPI_INFO_NULL, comm,
                                          &t->region, &t->exposed));
    } else if (strcmp(kind, "dynamic") == 0) {
        MPI_CHECK(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &t->exposed));
        room = writes ? room : (MPI_Aint)t->out_room;
        MPI_CHECK(MPI_Win_attach(t->exposed, t->region, room));
        MPI_CHECK(MPI_Get_address(t->region, &base));
    } else {
        room = writes ? room : (MPI_Aint)t->out_room;
        MPI_CHECK(MPI_Win_create(t->region, room, 1, MPI_INFO_NULL, comm,
                                 &t->exposed));
    }
    t->bases = ISO_NEW(MPI_Aint, t->ctx->size);
    iso_plain_allgather(t->ctx->control, &base, sizeof(base), t->bases);
}

void iso_one_sided_withdraw(iso_transfer_t *t)
{
    if (t->bases[t->ctx->rank] != 0) {
        MPI_CHECK(MPI_Win_detach(t->exposed, t->region));
    }
    MPI_CHECK(MPI_Win_free(&t->exposed));
    free(t->bases);
    iso_buffer_free(&t->fetch);
}

/* --- loops --------------------------------------------------------------- */

static inline void call(iso_transfer_t *t, void (*function)(iso_transfer_t *))
{
    if (function) {
        function(t);
    }
}

static inline void access_memory(iso_transfer_t *t)
{
    call(t, t->epoch->begin);
    for (long w = 0; w < t->window; w++) {
        t->mode->call(t, w);
    }
    t->epoch->end(t);
    iso_transfer_walk(t);
}

static inline void allow_access(iso_transfer_t *t)
{
    call(t, t->epoch->expose);
    t->epoch->await(t);
}

/** Both ranks; a fence ends what each of them does and allows. */
static inline void exchange(iso_transfer_t *t)
{
    call(t, t->epoch->expose);
    access_memory(t);
    if (t->epoch->await != t->epoch->end) {
        t->epoch->await(t);
    }
}

int iso_one_sided_parts(const iso_mode_t *mode, const iso_epoch_t *epoch)
{
    return epoch->active && !mode->both_ways ? 2 : 1;
}

void iso_one_sided_lead(iso_transfer_t *t, long samples, long batch,
                        double *seconds)
{
    bool there_and_back =
        t->window == 1 && iso_one_sided_parts(t->mode, t->epoch) == 2;
    call(t, t->epoch->open);
    for (long k = 0; k < samples; k++) {
        double began = iso_now();
        for (long b = 0; b < batch; b++) {
            if (t->mode->both_ways) {
                exchange(t);
                continue;
            }
            access_memory(t);
            if (there_and_back) {
                allow_access(t);
            }
        }
        seconds[k] = iso_now() - began;
    }
    call(t, t->epoch->close);
    if (!t->epoch->active) {
        MPI_CHECK(
            MPI_Send(NULL, 0, MPI_BYTE, t->partner, TAG_DONE, t->ctx->control));
    }
}

/** Wait in MPI, or compute with few calls of MPI. */
static void wait_for_end(iso_transfer_t *t)
{
    MPI_Request done;
    int complete = t->target_computes <= 0;
    MPI_CHECK(MPI_Irecv(NULL, 0, MPI_BYTE, t->partner, TAG_DONE,
                        t->ctx->control, &done));
    while (!complete) {
        iso_compute(ISO_MODE_CPU, t->target_computes, t->ctx->clock.simulated);
        MPI_CHECK(MPI_Test(&done, &complete, MPI_STATUS_IGNORE));
    }
    MPI_CHECK(MPI_Wait(&done, MPI_STATUS_IGNORE));
}

void iso_one_sided_answer(iso_transfer_t *t, long operations)
{
    if (!t->epoch->active) {
        wait_for_end(t);
        return;
    }
    call(t, t->epoch->open);
    for (long k = 0; k < operations; k++) {
        if (t->mode->both_ways) {
            exchange(t);
            continue;
        }
        allow_access(t);
        if (t->window == 1) {
            access_memory(t);
        }
    }
    call(t, t->epoch->close);
}
