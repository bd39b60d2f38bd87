/* SPDX-License-Identifier: BSD-3-Clause */
#include "messages/transfer.h"

#include "base/check.h"
#include "machine/computation.h"
#include "messages/one_sided.h"
#include "messages/partitioned.h"
#include "messages/staged.h"

#include <limits.h>

/* Far from the tags that experiments use for their own messages. */
enum { TAG_LOCATION = 1101 };

enum { LINE = 64, MAX_WINDOW = 4096, MAX_PARTITIONS = 4096 };

/** Messages in flight for a bandwidth, as osu_bw has. */
enum { BANDWIDTH_WINDOW = 64 };

#define DEFAULT_SYNC     "flush"
#define DEFAULT_EXPOSURE "create"

static struct {
    const char *mode, *source, *ready, *sync, *exposure, *layout, *cache;
    long window, partitions, stride;
    long long cache_bytes;
    double target_computes;
} options;

const iso_option_t iso_transfer_options[] = {
    {"mode", ISO_OPTION_CHOICE,
     "blocking|nonblocking|persistent|partitioned|bandwidth|"
     "bidirectional|bidirectional_sendrecv|bidirectional_sendrecv_replace|"
     "bidirectional_persistent|"
     "put|get|bidirectional_put|bidirectional_get|accumulate|get_accumulate|"
     "fetch_and_op|"
     "compare_and_swap",
     "blocking",
     "two-sided (bandwidth: nonblocking, --window 64), bidirectional, or "
     "one-sided; fetch_and_op and compare_and_swap: 8 bytes only",
     &options.mode},
    {"window", ISO_OPTION_COUNT, "W", "1",
     "messages in flight; times are per message", &options.window},
    {"source", ISO_OPTION_CHOICE, "partner|any", "partner",
     "receives are from the partner, or from MPI_ANY_SOURCE", &options.source},
    {"partitions", ISO_OPTION_COUNT, "N", "4",
     "--mode partitioned: parts of a message; sizes that they do not divide "
     "are left out",
     &options.partitions},
    {"ready", ISO_OPTION_CHOICE, "together|early", "together",
     "--mode partitioned: all parts become ready at once; or all but the last "
     "one were ready before the time begins",
     &options.ready},
    {"rma-sync", ISO_OPTION_CHOICE,
     "flush|flush_local|lock|lock_all|fence|pscw", DEFAULT_SYNC,
     "one-sided modes: how an access is completed; pscw is "
     "post-start-complete-wait",
     &options.sync},
    {"rma-window", ISO_OPTION_CHOICE, "create|allocate|dynamic|shared",
     DEFAULT_EXPOSURE, "one-sided modes: how the memory is exposed",
     &options.exposure},
    {"target-computes", ISO_OPTION_SECONDS, "TIME", "0",
     "one-sided modes: the target computes, and calls MPI_Test after each TIME "
     "only; 0: it waits in MPI",
     &options.target_computes},
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

/** How accesses of a one-sided mode are completed. */
static const iso_epoch_t *epoch(void)
{
    const iso_epoch_t *found = iso_epochs;
    while (strcmp(found->name, options.sync) != 0) {
        found++; /* the option accepts no other name */
    }
    return found;
}

static bool one_sided(void)
{
    return mode()->call != NULL;
}

/** Whether one-sided modes use memory that MPI allocates. */
static bool mpi_allocates(void)
{
    return strcmp(options.exposure, "allocate") == 0 ||
           strcmp(options.exposure, "shared") == 0;
}

static bool any_source(void)
{
    return strcmp(options.source, "any") == 0;
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
    return mode()->partitions ? options.partitions
           : stride()         ? (long long)sizeof(double)
                              : 1;
}

/** Modes of one size keep it. @return what is wrong, or NULL */
static const char *keep_element(iso_sizes_t *sizes)
{
    enum { ELEMENT = 8 };
    bool there = sizes->automatic && sizes->bytes[0] <= ELEMENT &&
                 sizes->bytes[1] >= ELEMENT;
    for (int k = 0; k < sizes->count; k++) {
        there = there || sizes->bytes[k] == ELEMENT;
    }
    *sizes = (iso_sizes_t){.count = 1, .bytes = {ELEMENT}};
    return there ? NULL
                 : "--mode fetch_and_op and compare_and_swap move 8 bytes: "
                   "remove --bytes";
}

/** @return what is wrong with the options of one-sided modes, or NULL */
static const char *check_one_sided(iso_sizes_t *sizes)
{
    if (!one_sided()) {
        bool given = strcmp(options.sync, DEFAULT_SYNC) != 0 ||
                     strcmp(options.exposure, DEFAULT_EXPOSURE) != 0 ||
                     options.target_computes > 0;
        return given ? "--rma-sync, --rma-window and --target-computes are for "
                       "one-sided modes, such as --mode put"
                     : NULL;
    }
    if (iso_memory_on_gpu() && mpi_allocates()) {
        return "--rma-window allocate and shared need --memory host";
    }
    if (options.target_computes > 0 && epoch()->active) {
        return "--target-computes: with --rma-sync fence and pscw the target "
               "takes part";
    }
    if (mode()->both_ways && !epoch()->active) {
        return "in both directions one-sided modes need --rma-sync fence or "
               "pscw";
    }
    if (mode()->adds && iso_sizes_largest(sizes) > INT_MAX) {
        return "accumulate counts its bytes with an int: at most 2147483647";
    }
    return mode()->element ? keep_element(sizes) : NULL;
}

/** Keep the sizes that partitions divide. @return what is wrong, or NULL */
static const char *check_partitions(iso_sizes_t *sizes)
{
    int kept = 0;
    if (!iso_partitioned_exists()) {
        return "this MPI library has no partitioned messages (MPI_Psend_init "
               "of MPI 4): use --mode persistent, or another library";
    }
    if (options.partitions < 1 || options.partitions > MAX_PARTITIONS) {
        return "--partitions is 1 to 4096";
    }
    if (stride()) {
        return "--mode partitioned and --layout vector exclude each other";
    }
    for (int k = 0; k < sizes->count && !sizes->automatic; k++) {
        if (sizes->bytes[k] % options.partitions == 0) {
            sizes->bytes[kept++] = sizes->bytes[k];
        }
    }
    sizes->count = sizes->automatic ? sizes->count : kept;
    return sizes->count > 0 ? NULL
                            : "--partitions divides none of the sizes of "
                              "--bytes";
}

/** Settle what the options leave open. */
static int settle(iso_sizes_t *sizes, char *error)
{
    if (strcmp(options.mode, "bandwidth") == 0) {
        options.mode = "nonblocking";
        options.window =
            options.window == 1 ? BANDWIDTH_WINDOW : options.window;
    }
    const char *usual = mode()->element      ? "8"
                        : options.window > 1 ? "1MiB"
                                             : "64";
    return sizes->count ? 0 : iso_sizes_parse(usual, sizes, error);
}

int iso_transfer_check(iso_sizes_t *sizes, char *error)
{
    if (settle(sizes, error)) {
        return -1;
    }
    const char *wrong =
        mode()->partitions ? check_partitions(sizes) : check_one_sided(sizes);
    if (one_sided() || mode()->partitions) { /* these cannot be staged */
        iso_memory_needs_mpi("--mode", options.mode);
    }
    if (any_source() && (one_sided() || mode()->partitions)) {
        wrong = "this --mode and --source any exclude each other";
    }
    long long quantum = iso_transfer_quantum();
    if (options.window < 1 || options.window > MAX_WINDOW) {
        wrong = "--window is 1 to 4096 messages";
    } else if (strcmp(options.layout, "vector") == 0 &&
               (options.stride < 1 || options.stride > INT_MAX / 16)) {
        wrong = "--stride is 1 to 134217727 doubles";
    } else if (cold() && options.window > 1) {
        wrong = "--cache cold and --window exclude each other";
    } else if (cold() && mode()->fixed) {
        wrong = "this --mode and --cache cold exclude each other";
    } else if (options.window > 1 && mode()->lead_window == NULL) {
        wrong = "this --mode and --window exclude each other";
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

int iso_transfer_check_ranks(int ranks, char *error)
{
    bool all = one_sided() && strcmp(options.sync, "fence") == 0;
    return all && ranks != 2
               ? ISO_REFUSE(error,
                            "--rma-sync fence is for 2 ranks, because all "
                            "ranks call MPI_Win_fence; try pscw")
               : 0;
}

int iso_transfer_check_node(int ranks, int here, char *error)
{
    bool shared = one_sided() && strcmp(options.exposure, "shared") == 0;
    return shared && here != ranks
               ? ISO_REFUSE(error,
                            "--rma-window shared needs all ranks on one node: "
                            "%d of %d are on one",
                            here, ranks)
               : 0;
}

const char *iso_transfer_quantity(void)
{
    static char text[80];
    if (options.window > 1 && strcmp(options.sync, DEFAULT_SYNC) == 0) {
        return "message of a window";
    }
    if (!one_sided()) {
        return mode()->quantity;
    }
    snprintf(text, sizeof(text), "%s%s %s",
             options.window > 1 ? "message of a window, " : "",
             mode()->quantity, epoch()->completion);
    return text;
}

int iso_transfer_directions(void)
{
    return mode()->both_ways ? 2 : 1;
}

iso_course_t iso_transfer_course(void)
{
    const iso_mode_t *m = mode();
    bool single = options.window == 1;
    if (m->both_ways || (single && iso_one_sided_parts(m, epoch()) == 2)) {
        return ISO_BOTH_WAYS;
    }
    return single && !one_sided() ? ISO_ROUND_TRIP : ISO_EACH_WAY;
}

bool iso_transfer_stamps(void)
{
    return strcmp(options.mode, "blocking") == 0 && options.window == 1;
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
    bool fetches = mode()->reads && mode()->writes;
    bool allocates = one_sided() && mpi_allocates();
    return room(largest, 1) +
           room(largest, options.window) * (1 + fetches + allocates);
}

/* --- two ranks ----------------------------------------------------------- */

void iso_transfer_init(iso_transfer_t *t, const iso_context_t *ctx,
                       long long largest)
{
    memset(t, 0, sizeof(*t));
    t->ctx = ctx;
    t->window = options.window;
    t->out_room = (size_t)room(largest, 1);
    t->in_room = (size_t)room(largest, options.window);
    t->sent = iso_buffer_create(t->out_room, ISO_SENT);
    t->received = iso_buffer_create(t->in_room, ISO_RECEIVED);
    iso_buffer_touch(&t->sent, t->out_room);
    iso_buffer_touch(&t->received, t->in_room);
    t->out = t->sent.at;
    t->in = t->received.at;
    t->requests = ISO_NEW(MPI_Request, 2 * t->window);
    t->message.bytes = -1;
    iso_staged_begin(t);
    t->mode = mode();
    t->partitions = (int)options.partitions;
    t->early = strcmp(options.ready, "early") == 0;
    t->region = t->fetched = t->in;
    if (one_sided()) {
        t->epoch = epoch();
        t->target_computes = options.target_computes;
        if (t->target_computes > 0) {
            iso_compute_calibrate(ctx->clock.simulated);
        }
        iso_one_sided_expose(t, options.exposure);
    }
}

void iso_transfer_free(iso_transfer_t *t)
{
    iso_message_free(&t->message);
    if (t->epoch) {
        iso_one_sided_withdraw(t);
    }
    free(t->requests);
    iso_buffer_free(&t->received);
    iso_buffer_free(&t->sent);
}

void iso_transfer_set(iso_transfer_t *t, int partner, long long bytes)
{
    t->partner = partner;
    t->source = any_source() ? MPI_ANY_SOURCE : partner;
    if (bytes != t->message.bytes) {
        iso_message_free(&t->message);
        iso_message_create(&t->message, bytes, stride());
        t->at = 0;
        if (t->mode->adds && stride() == 0) {
            t->message.type = MPI_UNSIGNED_CHAR; /* MPI_BYTE has no sum */
        }
    }
    if (one_sided()) {
        t->base = t->bases[partner];
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
    const iso_mode_t *m = t->mode;
    (windows ? m->lead_window : m->lead)(t, samples, batch, seconds);
    double messages = windows ? (double)t->window * m->parts_window : m->parts;
    if (one_sided()) {
        messages = windows ? t->window : iso_one_sided_parts(m, t->epoch);
    }
    for (long k = 0; k < samples; k++) {
        seconds[k] /= batch * messages;
    }
}

void iso_transfer_answer(iso_transfer_t *t, long operations)
{
    (t->window > 1 ? t->mode->answer_window : t->mode->answer)(t, operations);
}
