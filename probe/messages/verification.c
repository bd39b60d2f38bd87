/* SPDX-License-Identifier: BSD-3-Clause */
#include "messages/verification.h"

#include "base/check.h"
#include "machine/own_collectives.h"
#include "messages/one_sided.h"
#include "runfile/record.h"

enum { SIZES = 3, DOUBLE = sizeof(double), UNLIKE = 0xa5, TOUCHED = 1 };

/** Messages of a pair, over all sizes and both ranks. */
struct verdict {
    long long messages, wrong;
};

/* --- what messages hold -------------------------------------------------- */

/** Value of a number in memory of a rank. */
typedef unsigned contents_t(int rank, int partner, long long at);

static unsigned mixed(int rank, long long at)
{
    uint32_t value =
        (uint32_t)rank * 2654435761u + (uint32_t)at * 2246822519u + 374761393u;
    return (value ^ (value >> 15)) >> 8;
}

/** Even, 2 to 126. */
static unsigned sent(int rank, int partner, long long at)
{
    return 2 * (1 + mixed(rank, at) % 63);
}

/** Before a transfer, the same in all messages of a window: odd, 1 to 127. */
static unsigned initial(int rank, int partner, long long at)
{
    return 2 * (mixed(rank, at) % 64) + 1;
}

static unsigned sent_by_partner(int rank, int partner, long long at)
{
    return sent(partner, rank, at);
}

static unsigned initial_of_partner(int rank, int partner, long long at)
{
    return initial(partner, rank, at);
}

static unsigned sum(int rank, int partner, long long at)
{
    return initial(rank, partner, at) + sent(partner, rank, at);
}

/** Store the numbers of a message, bytes or doubles, or compare them.
 *  @return whether all are there */
static bool hold(const iso_transfer_t *t, char *message, contents_t *contents,
                 bool stores)
{
    const iso_message_t *m = &t->message;
    long long count = m->stride ? m->bytes / DOUBLE : m->bytes;
    bool same = true;
    for (long long at = 0; at < count && same; at++) {
        unsigned value = contents(t->ctx->rank, t->partner, at);
        uint8_t byte = (uint8_t)value;
        double number = value;
        const void *bytes = m->stride ? (void *)&number : (void *)&byte;
        size_t size = m->stride ? DOUBLE : 1;
        char *place = message + (size_t)at * (m->stride ? m->stride * size : 1);
        if (stores) {
            memcpy(place, bytes, size);
        }
        same = memcmp(place, bytes, size) == 0;
    }
    return same;
}

/* --- one transfer -------------------------------------------------------- */

/** Begin or end to read and write memory that others have access to. */
static void touch_region(iso_transfer_t *t, bool begins)
{
    int self = t->ctx->rank;
    if (t->mode->call && begins) {
        MPI_CHECK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, self, 0, t->exposed));
    } else if (t->mode->call) {
        MPI_CHECK(MPI_Win_unlock(self, t->exposed));
    }
}

/** Host memory with the same data, after copies. */
static char *image_of(const iso_transfer_t *t, char *memory)
{
    const iso_buffer_t *buffers[] = {&t->sent, &t->received, &t->fetch};
    for (size_t k = 0; k < ISO_LENGTH(buffers); k++) {
        if (memory == buffers[k]->at) {
            return buffers[k]->image;
        }
    }
    return memory; /* MPI's own */
}

/** Copy all images to the buffers, or back. */
static void copy_all(const iso_transfer_t *t,
                     void (*copy)(const iso_buffer_t *, size_t, size_t))
{
    copy(&t->sent, 0, t->out_room);
    copy(&t->received, 0, t->in_room);
    copy(&t->fetch, 0, t->in_room);
}

static char *message_of(const iso_transfer_t *t, char *memory, long w)
{
    return image_of(t, memory) + t->at + (size_t)w * t->message.extent;
}

static void prepare(iso_transfer_t *t)
{
    long slots = t->mode->writes ? t->window : 1;
    touch_region(t, true);
    memset(t->received.image, UNLIKE, t->in_room);
    if (t->fetch.at) {
        memset(t->fetch.image, UNLIKE, t->in_room);
    }
    hold(t, message_of(t, t->out, 0), sent, true);
    for (long w = 0; w < slots; w++) {
        hold(t, message_of(t, t->region, w), initial, true);
    }
    if (t->mode->element) {
        char *compared = (char *)&t->compared;
        hold(t, compared, initial_of_partner, true);
    }
    copy_all(t, iso_buffer_write);
    touch_region(t, false);
}

static void compare(iso_transfer_t *t, char *memory, contents_t *contents,
                    struct verdict *verdict)
{
    for (long w = 0; w < t->window; w++) {
        verdict->messages++;
        verdict->wrong += !hold(t, message_of(t, memory, w), contents, false);
    }
}

/** Whether both ranks send, put, or get in an operation. */
static bool mutual(const iso_transfer_t *t)
{
    return t->mode->both_ways ||
           (t->window == 1 && (t->epoch == NULL || t->epoch->active));
}

static void verify_size(iso_transfer_t *t, bool leads, struct verdict *verdict)
{
    double seconds;
    size_t at = t->at;
    prepare(t);
    iso_transfer_meet(t, leads);
    if (leads) {
        iso_transfer_lead(t, 1, 1, &seconds);
    } else {
        iso_transfer_answer(t, 1);
    }
    t->at = at;
    touch_region(t, true);
    copy_all(t, iso_buffer_read);
    if (t->mode->writes && (!leads || mutual(t))) {
        contents_t *written = t->mode->adds ? sum : sent_by_partner;
        compare(t, t->region, written, verdict);
    }
    if (t->mode->reads && (leads || mutual(t))) {
        compare(t, t->fetched, initial_of_partner, verdict);
    }
    touch_region(t, false);
}

/* --- all ----------------------------------------------------------------- */

/** @param first  receives the smallest size with a wrong message, if any */
static void verify_pair(iso_transfer_t *t, const iso_sizes_t *sizes,
                        iso_pair_t pair, struct verdict *verdict,
                        long long *first)
{
    bool leads = t->ctx->rank == pair.i;
    long long most = ISO_VERIFIED_WINDOW / t->window / DOUBLE * DOUBLE;
    long long last = 0;
    for (int k = 0; k < SIZES; k++) {
        long long bytes = sizes->bytes[k * (sizes->count - 1) / (SIZES - 1)];
        bytes = bytes < most ? bytes : most;
        if (bytes != last) {
            iso_transfer_set(t, leads ? pair.j : pair.i, bytes);
            verify_size(t, leads, verdict);
        }
        if (verdict->wrong && bytes < *first) {
            *first = bytes;
        }
        last = bytes;
    }
}

/** The memory is as before. */
static void restore(iso_transfer_t *t)
{
    touch_region(t, true);
    memset(image_of(t, t->region), TOUCHED,
           t->mode->writes ? t->in_room : t->out_room);
    iso_buffer_touch(&t->received, t->in_room);
    iso_buffer_touch(&t->sent, t->out_room);
    if (t->fetch.at) {
        iso_buffer_touch(&t->fetch, t->in_room);
    }
    touch_region(t, false);
    memset(&t->compared, TOUCHED, sizeof(t->compared));
}

static void warn(const iso_context_t *ctx, const iso_mode_t *mode,
                 iso_pair_t pair, const struct verdict *verdict,
                 long long first)
{
    iso_record_wrong_result(
        ctx->record,
        "%s between ranks %d and %d moves wrong data and was not timed: "
        "%lld of %lld messages differ, first at %lld bytes",
        mode->name, pair.i, pair.j, verdict->wrong, verdict->messages, first);
}

int iso_transfer_verify(iso_transfer_t *t, const iso_sizes_t *sizes,
                        iso_pair_t *pairs, int count)
{
    const iso_context_t *ctx = t->ctx;
    struct verdict *verdicts = ISO_NEW(struct verdict, count);
    long long *first = ISO_NEW(long long, count);
    int right = 0;
    for (int k = 0; k < count; k++) {
        first[k] = INT64_MAX;
        if (ctx->rank == pairs[k].i || ctx->rank == pairs[k].j) {
            verify_pair(t, sizes, pairs[k], &verdicts[k], &first[k]);
        }
    }
    restore(t);
    iso_plain_allreduce(ctx->control, verdicts, 2 * count, MPI_LONG_LONG,
                        MPI_SUM);
    iso_plain_reduce(ctx->control, first, count, MPI_LONG_LONG, MPI_MIN);
    for (int k = 0; k < count; k++) {
        if (verdicts[k].wrong == 0) {
            pairs[right++] = pairs[k];
        } else if (ctx->rank == 0) {
            warn(ctx, t->mode, pairs[k], &verdicts[k], first[k]);
        }
    }
    free(first);
    free(verdicts);
    return right;
}
