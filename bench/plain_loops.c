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

static const char *const modes[] = {
    "blocking", "nonblocking", "persistent", "bidirectional", "put", "get"};
static const char *const windows[] = {"1", "4", "64"};

struct loop {
    const char *mode;
    int rank, window, bytes;
    char *out, *in; /* a window of messages each */
    MPI_Win exposed;
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

static void access_memory(struct loop *l, bool put)
{
    for (int w = 0; w < l->window; w++) {
        MPI_Aint at = (MPI_Aint)w * l->bytes;
        if (put) {
            MPI_Put(l->out, l->bytes, MPI_BYTE, 1, at, l->bytes, MPI_BYTE,
                    l->exposed);
        } else {
            MPI_Get(l->in + at, l->bytes, MPI_BYTE, 1, 0, l->bytes, MPI_BYTE,
                    l->exposed);
        }
    }
    MPI_Win_flush(1, l->exposed);
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

/** @return seconds of the operations, at rank 0 */
static double one_sided(struct loop *l, int operations)
{
    if (l->rank == 1) { /* inside MPI, so that it can make progress */
        MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return 0;
    }
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, l->exposed);
    double start = MPI_Wtime();
    for (int k = 0; k < operations; k++) {
        access_memory(l, strcmp(l->mode, "put") == 0);
    }
    double seconds = MPI_Wtime() - start;
    MPI_Win_unlock(1, l->exposed);
    MPI_Send(NULL, 0, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
    return seconds;
}

/** Elapsed time over the number of messages that follow each other. */
static double plain(struct loop *l, int operations)
{
    bool memory = strcmp(l->mode, "put") == 0 || strcmp(l->mode, "get") == 0;
    bool there_and_back =
        l->window == 1 && !memory && strcmp(l->mode, "bidirectional") != 0;
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
        printf("%s %d %d plain %.9g probe %.9g from %.9g to %.9g\n", l->mode,
               l->window, l->bytes, undisturbed(found + PLAIN * blocks, blocks),
               undisturbed(found + PROBE * blocks, blocks),
               undisturbed(found + FROM * blocks, blocks),
               undisturbed(found + TO * blocks, blocks));
    }
    free(found);
    MPI_CHECK(MPI_Win_free(&l->exposed));
    free(l->in);
    free(l->out);
    iso_transfer_free(&transfer);
}

static void compare_modes(const iso_context_t *ctx, int bytes, int blocks,
                          int samples)
{
    struct loop loop = {.rank = ctx->rank, .bytes = bytes};
    for (size_t k = 0; k < sizeof(modes) / sizeof(*modes); k++) {
        for (size_t w = 0; w < sizeof(windows) / sizeof(*windows); w++) {
            char error[ISO_ERROR_LENGTH];
            const iso_option_t *const tables[] = {iso_transfer_options, NULL};
            char *const argv[] = {"--mode", (char *)modes[k], "--window",
                                  (char *)windows[w]};
            if (iso_options_reset(iso_transfer_options, error) ||
                iso_options_parse(tables, 4, argv, error)) {
                ISO_FAIL("%s", error);
            }
            loop.mode = modes[k];
            loop.window = atoi(windows[w]);
            compare_loops(ctx, &loop, blocks, samples);
        }
    }
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
