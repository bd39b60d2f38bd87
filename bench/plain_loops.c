/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file plain_loops.c
 * Is the median of the samples the time of the operation? Two ranks run every
 * mode of a transfer as the probe does, sample by sample, in turns with the
 * plain loop: many operations, and the elapsed time over their number.
 *
 *     mpiexec -n 2 plain_loops BLOCKS SAMPLES BYTES...
 *     -> a line for each mode, window and size:
 *        MODE WINDOW BYTES plain SECONDS probe SECONDS from SECONDS to SECONDS
 *
 * A block is one plain loop of 2 SAMPLES operations and SAMPLES samples;
 * printed are the median of these samples, the shortest and the longest one. Of
 * the blocks the tenth that were disturbed least give the seconds.
 */
#include "base/check.h"
#include "messages/transfer.h"

#include <stdlib.h>
#include <string.h>

enum { TAG = 7, MAX_WINDOW = 64 };

/** A mode, and how it is completed if it is one-sided. */
static const struct way {
    const char *name, *mode, *sync;
} ways[] = {
    {"blocking", "blocking", "flush"},
    {"nonblocking", "nonblocking", "flush"},
    {"persistent", "persistent", "flush"},
    {"bidirectional", "bidirectional", "flush"},
    {"put", "put", "flush"},
    {"get", "get", "flush"},
    {"put/lock", "put", "lock"},
    {"put/pscw", "put", "pscw"},
    {"put/fence", "put", "fence"},
    {"accumulate", "accumulate", "flush"},
    {"get_accumulate/lock_all", "get_accumulate", "lock_all"},
};
static const char *const windows[] = {"1", "4", "64"};

struct loop {
    const char *name, *mode, *sync;
    int rank, window, bytes;
    char *out, *in; /* a window of messages each */
    char *fetched;
    MPI_Win exposed;
    MPI_Group partner;
    MPI_Request requests[2 * MAX_WINDOW];
};

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof(*values), compare);
    return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

static void receive(struct loop *l, bool persistent)
{
    int other = 1 - l->rank;
    for (int w = 0; w < l->window; w++) {
        char *slot = l->in + (size_t)w * (size_t)l->bytes;
        if (persistent) {
            MPI_Start(&l->requests[w]);
        } else {
            MPI_Irecv(slot, l->bytes, MPI_BYTE, other, TAG, MPI_COMM_WORLD,
                      &l->requests[w]);
        }
    }
}

static void send(struct loop *l, bool persistent)
{
    int other = 1 - l->rank;
    for (int w = l->window; w < 2 * l->window; w++) {
        if (persistent) {
            MPI_Start(&l->requests[w]);
        } else {
            MPI_Isend(l->out, l->bytes, MPI_BYTE, other, TAG, MPI_COMM_WORLD,
                      &l->requests[w]);
        }
    }
}

static void wait_for(struct loop *l, int first, int count)
{
    MPI_Waitall(count, l->requests + first, MPI_STATUSES_IGNORE);
}

/** A message to the partner, and an answer. */
static void round_trip(struct loop *l)
{
    bool persistent = strcmp(l->mode, "persistent") == 0;
    int other = 1 - l->rank;
    if (strcmp(l->mode, "blocking") == 0 && l->rank == 0) {
        MPI_Send(l->out, l->bytes, MPI_BYTE, other, TAG, MPI_COMM_WORLD);
        MPI_Recv(l->in, l->bytes, MPI_BYTE, other, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    } else if (strcmp(l->mode, "blocking") == 0) {
        MPI_Recv(l->in, l->bytes, MPI_BYTE, other, TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        MPI_Send(l->out, l->bytes, MPI_BYTE, other, TAG, MPI_COMM_WORLD);
    } else if (l->rank == 0) {
        receive(l, persistent);
        send(l, persistent);
        wait_for(l, 0, 2);
    } else {
        receive(l, persistent);
        wait_for(l, 0, 1);
        send(l, persistent);
        wait_for(l, 1, 1);
    }
}

/** A window of messages to the partner, and an empty answer. */
static void window(struct loop *l)
{
    bool persistent = strcmp(l->mode, "persistent") == 0;
    if (l->rank == 1) {
        receive(l, persistent);
        wait_for(l, 0, l->window);
        MPI_Send(NULL, 0, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
        return;
    }
    if (strcmp(l->mode, "blocking") == 0) {
        for (int w = 0; w < l->window; w++) {
            MPI_Send(l->out, l->bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
        }
    } else {
        send(l, persistent);
        wait_for(l, l->window, l->window);
    }
    MPI_Recv(NULL, 0, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static bool is(const char *name, const char *other)
{
    return strcmp(name, other) == 0;
}

static void call(struct loop *l, MPI_Aint at)
{
    int other = 1 - l->rank, n = l->bytes;
    if (is(l->mode, "put")) {
        MPI_Put(l->out, n, MPI_BYTE, other, at, n, MPI_BYTE, l->exposed);
    } else if (is(l->mode, "get")) {
        MPI_Get(l->in + at, n, MPI_BYTE, other, 0, n, MPI_BYTE, l->exposed);
    } else if (is(l->mode, "accumulate")) {
        MPI_Accumulate(l->out, n, MPI_UNSIGNED_CHAR, other, at, n,
                       MPI_UNSIGNED_CHAR, MPI_SUM, l->exposed);
    } else {
        MPI_Get_accumulate(l->out, n, MPI_UNSIGNED_CHAR, l->fetched + at, n,
                           MPI_UNSIGNED_CHAR, other, at, n, MPI_UNSIGNED_CHAR,
                           MPI_SUM, l->exposed);
    }
}

static void access_memory(struct loop *l)
{
    int other = 1 - l->rank;
    if (is(l->sync, "lock")) {
        MPI_Win_lock(MPI_LOCK_SHARED, other, 0, l->exposed);
    } else if (is(l->sync, "lock_all")) {
        MPI_Win_lock_all(0, l->exposed);
    } else if (is(l->sync, "pscw")) {
        MPI_Win_start(l->partner, 0, l->exposed);
    }
    for (int w = 0; w < l->window; w++) {
        call(l, (MPI_Aint)w * l->bytes);
    }
    if (is(l->sync, "flush")) {
        MPI_Win_flush(other, l->exposed);
    } else if (is(l->sync, "lock")) {
        MPI_Win_unlock(other, l->exposed);
    } else if (is(l->sync, "lock_all")) {
        MPI_Win_unlock_all(l->exposed);
    } else if (is(l->sync, "pscw")) {
        MPI_Win_complete(l->exposed);
    } else {
        MPI_Win_fence(0, l->exposed);
    }
}

/** Pass an epoch in which the partner accesses the memory of this rank. */
static void allow_access(struct loop *l)
{
    if (is(l->sync, "pscw")) {
        MPI_Win_post(l->partner, 0, l->exposed);
        MPI_Win_wait(l->exposed);
    } else {
        MPI_Win_fence(0, l->exposed);
    }
}

static bool active(const struct loop *l)
{
    return is(l->sync, "pscw") || is(l->sync, "fence");
}

/** @return seconds of the operations */
static double two_sided(struct loop *l, int operations)
{
    double start = MPI_Wtime();
    for (int k = 0; k < operations; k++) {
        if (strcmp(l->mode, "bidirectional") == 0) {
            receive(l, false);
            send(l, false);
            wait_for(l, 0, 2 * l->window);
        } else if (l->window == 1) {
            round_trip(l);
        } else {
            window(l);
        }
    }
    return MPI_Wtime() - start;
}

/** Both take part: one after the other, or a window one way. */
static double in_epochs(struct loop *l, int operations)
{
    bool fences = is(l->sync, "fence");
    if (fences) {
        MPI_Win_fence(MPI_MODE_NOPRECEDE, l->exposed);
    }
    double start = MPI_Wtime();
    for (int k = 0; k < operations; k++) {
        if (l->rank == 0) {
            access_memory(l);
        }
        if (l->rank == 1 || l->window == 1) {
            allow_access(l);
        }
        if (l->rank == 1 && l->window == 1) {
            access_memory(l);
        }
    }
    double seconds = MPI_Wtime() - start;
    if (fences) {
        MPI_Win_fence(MPI_MODE_NOSUCCEED, l->exposed);
    }
    return seconds;
}

/** @return seconds of the operations, at rank 0 */
static double one_sided(struct loop *l, int operations)
{
    if (active(l)) {
        return in_epochs(l, operations);
    }
    if (l->rank == 1) { /* inside MPI, so that it can make progress */
        MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return 0;
    }
    if (is(l->sync, "flush")) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, l->exposed);
    }
    double start = MPI_Wtime();
    for (int k = 0; k < operations; k++) {
        access_memory(l);
    }
    double seconds = MPI_Wtime() - start;
    if (is(l->sync, "flush")) {
        MPI_Win_unlock(1, l->exposed);
    }
    MPI_Send(NULL, 0, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
    return seconds;
}

/** Elapsed time over the number of messages that follow each other. */
static double plain(struct loop *l, int operations)
{
    bool memory = is(l->mode, "put") || is(l->mode, "get") ||
                  strstr(l->mode, "accumulate") != NULL;
    bool there_and_back = l->window == 1 && (!memory || active(l)) &&
                          !is(l->mode, "bidirectional");
    int messages = operations * l->window * (there_and_back ? 2 : 1);
    double (*run)(struct loop *, int) = memory ? one_sided : two_sided;
    run(l, 1); /* untimed */
    return run(l, operations) / messages;
}

/** Take samples as the probe does, shortest first. */
static void probe(iso_transfer_t *transfer, int rank, int samples,
                  double *seconds)
{
    iso_transfer_meet(transfer, rank == 0);
    if (rank == 1) {
        iso_transfer_answer(transfer, 1);
        iso_transfer_answer(transfer, samples);
    } else {
        iso_transfer_lead(transfer, 1, 1, seconds);
        iso_transfer_lead(transfer, samples, 1, seconds);
        qsort(seconds, (size_t)samples, sizeof(*seconds), compare);
    }
}

static void open_persistent(struct loop *l)
{
    int other = 1 - l->rank;
    for (int w = 0; w < l->window; w++) {
        MPI_Recv_init(l->in + (size_t)w * (size_t)l->bytes, l->bytes, MPI_BYTE,
                      other, TAG, MPI_COMM_WORLD, &l->requests[w]);
        MPI_Send_init(l->out, l->bytes, MPI_BYTE, other, TAG, MPI_COMM_WORLD,
                      &l->requests[l->window + w]);
    }
}

/** The value that a tenth of them are below. */
static double undisturbed(double *values, int n)
{
    qsort(values, (size_t)n, sizeof(*values), compare);
    return values[n / 10];
}

enum { PLAIN, PROBE, FROM, TO, QUANTITIES };

/** Run the blocks. @param found  receives QUANTITIES times @a blocks seconds */
static void run_blocks(iso_transfer_t *transfer, struct loop *l, int blocks,
                       int samples, double *found)
{
    double *seconds = iso_calloc((size_t)samples, sizeof(double));
    for (int k = 0; k < 2 * blocks; k++) {
        int block = k / 2;
        if ((k + block) % 2 == 0) { /* 0 1, 1 0, ...: a drift hits both alike */
            found[PLAIN * blocks + block] = plain(l, 2 * samples);
            continue;
        }
        probe(transfer, l->rank, samples, seconds);
        found[PROBE * blocks + block] = median(seconds, samples);
        found[FROM * blocks + block] = seconds[0];
        found[TO * blocks + block] = seconds[samples - 1];
    }
    free(seconds);
}

/** Compare the loops of a mode; both have their messages in like memory. */
static void compare_loops(const iso_context_t *ctx, struct loop *l, int blocks,
                          int samples)
{
    iso_transfer_t transfer;
    iso_transfer_init(&transfer, ctx, l->bytes);
    iso_transfer_set(&transfer, 1 - ctx->rank, l->bytes);
    l->out = memset(iso_calloc(transfer.out_room, 1), 1, transfer.out_room);
    l->in = memset(iso_calloc(transfer.in_room, 1), 1, transfer.in_room);
    l->fetched = iso_touched(transfer.in_room);
    MPI_CHECK(MPI_Win_create(l->in, (MPI_Aint)transfer.in_room, 1,
                             MPI_INFO_NULL, MPI_COMM_WORLD, &l->exposed));
    double *found = iso_calloc((size_t)(QUANTITIES * blocks), sizeof(double));
    bool persistent = strcmp(l->mode, "persistent") == 0;
    if (persistent) {
        open_persistent(l);
    }
    run_blocks(&transfer, l, blocks, samples, found);
    for (int r = 0; persistent && r < 2 * l->window; r++) {
        MPI_Request_free(&l->requests[r]);
    }
    if (ctx->rank == 0) {
        printf("%s %d %d plain %.9g probe %.9g from %.9g to %.9g\n", l->name,
               l->window, l->bytes, undisturbed(found + PLAIN * blocks, blocks),
               undisturbed(found + PROBE * blocks, blocks),
               undisturbed(found + FROM * blocks, blocks),
               undisturbed(found + TO * blocks, blocks));
    }
    free(found);
    MPI_CHECK(MPI_Win_free(&l->exposed));
    free(l->fetched);
    free(l->in);
    free(l->out);
    iso_transfer_free(&transfer);
}

static void compare_modes(const iso_context_t *ctx, int bytes, int blocks,
                          int samples)
{
    struct loop loop = {.rank = ctx->rank, .bytes = bytes};
    MPI_Group all;
    int other = 1 - ctx->rank;
    MPI_CHECK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    MPI_CHECK(MPI_Group_incl(all, 1, &other, &loop.partner));
    for (size_t k = 0; k < sizeof(ways) / sizeof(*ways); k++) {
        for (size_t w = 0; w < sizeof(windows) / sizeof(*windows); w++) {
            char error[ISO_ERROR_LENGTH];
            const iso_option_t *const tables[] = {iso_transfer_options, NULL};
            char *const argv[] = {"--mode",     (char *)ways[k].mode,
                                  "--rma-sync", (char *)ways[k].sync,
                                  "--window",   (char *)windows[w]};
            if (iso_options_reset(iso_transfer_options, error) ||
                iso_options_parse(tables, 6, argv, error)) {
                ISO_FAIL("%s", error);
            }
            loop.name = ways[k].name;
            loop.mode = ways[k].mode;
            loop.sync = ways[k].sync;
            loop.window = atoi(windows[w]);
            compare_loops(ctx, &loop, blocks, samples);
        }
    }
    MPI_CHECK(MPI_Group_free(&loop.partner));
    MPI_CHECK(MPI_Group_free(&all));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    iso_context_t ctx = {.size = 2, .ranks = 2, .comm = MPI_COMM_WORLD};
    MPI_CHECK(MPI_Comm_rank(MPI_COMM_WORLD, &ctx.rank));
    MPI_CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &ctx.control));
    ctx.clock = iso_clock_examine();
    for (int k = 3; k < argc; k++) {
        compare_modes(&ctx, atoi(argv[k]), atoi(argv[1]), atoi(argv[2]));
    }
    MPI_Finalize();
    return 0;
}
