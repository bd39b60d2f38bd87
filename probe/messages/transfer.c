/* SPDX-License-Identifier: BSD-3-Clause */
#include "messages/transfer.h"

#include "base/check.h"
#include "messages/modes.h"
#include "messages/staged.h"

#include <limits.h>

/* Far from the tags that experiments use for their own messages. */
enum { TAG_LOCATION = 1101 };

enum { LINE = 64, MAX_WINDOW = 4096 };

static struct {
    const char *mode, *layout, *cache;
    long window, stride;
    long long cache_bytes;
} options;

const iso_option_t iso_transfer_options[] = {
    {"mode", ISO_OPTION_CHOICE,
     "blocking|nonblocking|persistent|bidirectional|put|get", "blocking",
     "blocking (MPI_Send), nonblocking (MPI_Isend), persistent "
     "(MPI_Send_init), bidirectional (both directions at once), or one-sided "
     "put or get",
     &options.mode},
    {"window", ISO_OPTION_COUNT, "W", "1",
     "messages in flight; times are per message", &options.window},
    {"layout", ISO_OPTION_CHOICE | ISO_EXPERT, "contiguous|vector",
     "contiguous",
     "contiguous bytes, or a derived datatype (vector): one double every "
     "--stride doubles",
     &options.layout},
    {"stride", ISO_OPTION_COUNT | ISO_EXPERT, "K", "10",
     "--layout vector: distance between two doubles, in doubles",
     &options.stride},
    {"cache", ISO_OPTION_CHOICE | ISO_EXPERT, "hot|cold", "hot",
     "hot: always the same buffer; cold: each message uses another part of "
     "--cache-bytes, so that none is in the cache",
     &options.cache},
    {"cache-bytes", ISO_OPTION_SIZE | ISO_EXPERT, "SIZE", "64MiB",
     "--cache cold: memory that the messages are spread over; should exceed "
     "the cache",
     &options.cache_bytes},
    {0},
};

static const iso_mode_t *mode(void)
{
    return iso_mode_find(options.mode);
}

static bool cold(void)
{
    return strcmp(options.cache, "cold") == 0;
}

static long stride(void)
{
    return strcmp(options.layout, "vector") == 0 ? options.stride : 0;
}

long long iso_transfer_quantum(void)
{
    return stride() ? sizeof(double) : 1;
}

int iso_transfer_check(const iso_sizes_t *sizes, char *error)
{
    const char *wrong = NULL;
    if (!iso_staged_can(options.mode)) {
        iso_memory_needs_mpi("--mode", options.mode);
    }
    long long quantum = iso_transfer_quantum();
    if (options.window < 1 || options.window > MAX_WINDOW) {
        wrong = "--window is 1 to 4096 messages";
    } else if (strcmp(options.layout, "vector") == 0 &&
               (options.stride < 1 || options.stride > INT_MAX / 16)) {
        wrong = "--stride is 1 to 134217727 doubles";
    } else if (cold() && options.window > 1) {
        wrong = "--cache cold and --window exclude each other";
    } else if (cold() && strcmp(options.mode, "persistent") == 0) {
        wrong = "--mode persistent and --cache cold exclude each other";
    } else if (stride() && iso_sizes_largest(sizes) / quantum > INT_MAX) {
        wrong = "--layout vector counts its doubles with an int: at most "
                "2147483647 of them";
    }
    for (int k = 0; wrong == NULL && k < sizes->count; k++) {
        if (sizes->bytes[k] % quantum != 0) {
            wrong = "--layout vector sends doubles: sizes are multiples of 8 "
                    "bytes, for example 0:1024:32";
        }
    }
    return wrong ? ISO_REFUSE(error, "%s", wrong) : 0;
}

const char *iso_transfer_quantity(void)
{
    return options.window > 1 ? "message of a window" : mode()->quantity;
}

int iso_transfer_directions(void)
{
    return strcmp(options.mode, "bidirectional") == 0 ? 2 : 1;
}

/** Bytes that sent messages, or received ones, lie in. */
static double room(long long largest, long messages)
{
    double extent = iso_message_extent(largest, stride());
    double walked = cold() ? options.cache_bytes + extent : 0;
    double needed = extent * messages;
    return (needed > walked ? needed : walked) + LINE;
}

double iso_transfer_memory(long long largest)
{
    return room(largest, 1) + room(largest, options.window);
}

/* --- two ranks ----------------------------------------------------------- */

void iso_transfer_open(iso_transfer_t *t, const iso_context_t *ctx,
                       size_t out_room, size_t in_room, long window)
{
    memset(t, 0, sizeof(*t));
    t->ctx = ctx;
    t->window = window;
    t->out_room = out_room;
    t->in_room = in_room;
    t->sent = iso_buffer_create(out_room, ISO_SENT);
    t->received = iso_buffer_create(in_room, ISO_RECEIVED);
    iso_buffer_touch(&t->sent, out_room);
    iso_buffer_touch(&t->received, in_room);
    t->out = t->sent.at;
    t->in = t->received.at;
    t->requests = iso_calloc((2 * t->window), sizeof(MPI_Request));
    t->exposed = MPI_WIN_NULL;
    t->message.bytes = -1;
    iso_staged_begin(t);
}

void iso_transfer_init(iso_transfer_t *t, const iso_context_t *ctx,
                       long long largest)
{
    iso_transfer_open(t, ctx, (size_t)room(largest, 1),
                      (size_t)room(largest, options.window), options.window);
    if (iso_mode_one_sided(mode())) {
        MPI_CHECK(MPI_Win_create(t->in, t->in_room, 1, MPI_INFO_NULL, ctx->comm,
                                 &t->exposed));
    }
}

void iso_transfer_free(iso_transfer_t *t)
{
    iso_message_free(&t->message);
    if (t->exposed != MPI_WIN_NULL) {
        MPI_CHECK(MPI_Win_free(&t->exposed));
    }
    free(t->requests);
    iso_buffer_free(&t->received);
    iso_buffer_free(&t->sent);
}

void iso_transfer_set(iso_transfer_t *t, int partner, long long bytes)
{
    t->partner = partner;
    if (bytes != t->message.bytes) {
        iso_message_free(&t->message);
        iso_message_create(&t->message, bytes, stride());
        t->at = 0;
    }
    if (cold()) {
        size_t extent = t->message.extent;
        t->step = (extent / LINE + 1) * LINE;
        t->last = t->out_room < t->in_room ? t->out_room : t->in_room;
        t->last -= extent;
    }
}

bool iso_transfer_meet(iso_transfer_t *t, bool leads)
{
    const iso_context_t *ctx = t->ctx;
    bool simulated = ctx->clock.simulated;
    iso_location_t theirs, mine = iso_host_locate(ctx->node, simulated);
    if (leads) {
        MPI_CHECK(MPI_Send(&mine, ISO_LOCATION_INTS, MPI_INT, t->partner,
                           TAG_LOCATION, ctx->control));
    }
    MPI_CHECK(MPI_Recv(&theirs, ISO_LOCATION_INTS, MPI_INT, t->partner,
                       TAG_LOCATION, ctx->control, MPI_STATUS_IGNORE));
    mine = iso_host_avoid(ctx->node, simulated, &theirs);
    if (!leads) {
        MPI_CHECK(MPI_Send(&mine, ISO_LOCATION_INTS, MPI_INT, t->partner,
                           TAG_LOCATION, ctx->control));
    }
    return iso_host_same_cpu(&mine, &theirs);
}

void iso_transfer_lead(iso_transfer_t *t, long samples, long batch,
                       double *seconds)
{
    bool windows = t->window > 1;
    const iso_mode_t *m = mode();
    (windows ? m->lead_window : m->lead)(t, samples, batch, seconds);
    double messages = windows ? (double)t->window * m->parts_window : m->parts;
    for (long k = 0; k < samples; k++) {
        seconds[k] /= batch * messages;
    }
}

void iso_transfer_answer(iso_transfer_t *t, long operations)
{
    (t->window > 1 ? mode()->answer_window : mode()->answer)(t, operations);
}
