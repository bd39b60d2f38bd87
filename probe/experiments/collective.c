/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file collective.c
 * How long collective operations take. All ranks start together, each rank's
 * own time is kept, and the time of the operation is that of the slowest rank.
 *
 *     --sync barrier            --sync window
 *     barrier                   wait until the agreed moment of the global
 *     start = now                 clock; a rank that is late voids the sample
 *     operation                 operation
 *     time = now - start        time = now - the agreed moment
 *
 * Leaving a barrier is not simultaneous, so with barrier a rank's time begins
 * when that rank has left it. With window all begin at one moment of a clock
 * that is as good as the "sync" records say. Moments follow each other at a
 * distance that is doubled when more than a tenth of the samples are void.
 */
#define _POSIX_C_SOURCE 200809L
#include "base/check.h"
#include "experiment.h"
#include "global_clock/sync.h"
#include "messages/operations.h"
#include "runfile/record.h"
#include "sampling/sampler.h"
#include "sampling/sweep.h"
#include "sampling/time_limit.h"

#include <limits.h>
#include <math.h>
#include <string.h>
#include <time.h>

enum { MAX_OPERATIONS = 16, DOUBLE = sizeof(double) };

/** Seconds between the agreement on a first moment and that moment; between
 *  two moments; and before a moment to be awake. */
static const double MIN_LEAD = 500e-6, MAX_LEAD = 0.1;
static const double MIN_DISTANCE = 50e-6, MAX_DISTANCE = 1;
static const double AWAKE = 200e-6;

static struct {
    iso_sizes_t sizes;
    const char *names, *root, *sync;
} options;

static const iso_option_t own_options[] = {
    {"op", ISO_OPTION_TEXT, "OP,...", "barrier,bcast,allreduce,alltoall",
     "operations, or all: barrier, bcast, reduce, allreduce, gather, scatter, "
     "allgather, alltoall, reduce_scatter_block, scan",
     &options.names},
    {"bytes", ISO_OPTION_SWEEP, "SIZES", "8:512KiB:x4",
     "bytes of one rank's block: 64,1KiB or START:STOP:STEP or "
     "START:STOP:xFACTOR or auto[:START:STOP]",
     &options.sizes},
    {"root", ISO_OPTION_CHOICE, "fixed|rotating", "fixed",
     "rank 0 is the root, or each rank in turn", &options.root},
    {"sync", ISO_OPTION_CHOICE, "barrier|window", "barrier",
     "start after a barrier, or at an agreed time of the global clock",
     &options.sync},
    {0},
};

static const iso_option_t *const all_options[] = {
    own_options,         iso_sync_options,
    iso_sweep_options,   iso_time_limit_options,
    iso_sampler_options, NULL};

/** Operations in the order of --op. */
struct list {
    const iso_operation_t *items[MAX_OPERATIONS];
    int count;
};

static struct list operations;

static int parse_operations(struct list *list, char *error)
{
    const char *rest = options.names;
    list->count = 0;
    if (strcmp(rest, "all") == 0) {
        while (iso_operations[list->count].name) {
            list->items[list->count] = &iso_operations[list->count];
            list->count++;
        }
        return 0;
    }
    for (;;) {
        size_t length = strcspn(rest, ",");
        const iso_operation_t *found = iso_operation_find(rest, length);
        if (found == NULL || list->count == MAX_OPERATIONS) {
            snprintf(error, ISO_ERROR_LENGTH,
                     "--op: there is no operation '%.*s' (--help lists them)",
                     (int)(length < 40 ? length : 40), rest);
            return -1;
        }
        list->items[list->count++] = found;
        if (rest[length] == '\0') {
            return 0;
        }
        rest += length + 1;
    }
}

static bool reducing(const struct list *list)
{
    for (int k = 0; k < list->count; k++) {
        if (list->items[k]->reduces) {
            return true;
        }
    }
    return false;
}

static int check(char *error)
{
    struct list list;
    if (parse_operations(&list, error)) {
        return -1;
    }
    for (int k = 0; reducing(&list) && k < options.sizes.count; k++) {
        if (options.sizes.bytes[k] % DOUBLE != 0) {
            snprintf(error, ISO_ERROR_LENGTH,
                     "--op %.60s reduces doubles: --bytes %lld is not a "
                     "multiple of 8",
                     options.names, options.sizes.bytes[k]);
            return -1;
        }
    }
    if (reducing(&list) &&
        iso_sizes_largest(&options.sizes) / DOUBLE > INT_MAX) {
        snprintf(error, ISO_ERROR_LENGTH,
                 "--op %.60s counts its doubles with an int: at most 16 GiB",
                 options.names);
        return -1;
    }
    return iso_sync_check(error) ? -1 : iso_sweep_check(error);
}

static void resolve(int ranks)
{
    char error[ISO_ERROR_LENGTH];
    parse_operations(&operations, error);
    iso_sampler_resolve(ranks);
}

static double memory(int ranks)
{
    double most = 0, largest = (double)iso_sizes_largest(&options.sizes);
    for (int k = 0; k < operations.count; k++) {
        most = fmax(most,
                    iso_operation_memory(operations.items[k], largest, ranks));
    }
    return most;
}

/* --- what the sweep asks ------------------------------------------------- */

struct state {
    const iso_context_t *ctx;
    iso_sync_t *sync;    /**< NULL: start by barrier */
    iso_message_t block; /**< of the size at hand, for what is not reduced */
    char *send, *receive;
    double lead;     /**< at rank 0: seconds until the first agreed moment */
    double distance; /**< at rank 0: between two of them, seconds */
    long voided, samples;
};

static bool has_no_size(void *self, int subject)
{
    (void)self;
    return operations.items[subject]->empty;
}

static int root_of(const struct state *state, long long sample)
{
    bool rotating = strcmp(options.root, "rotating") == 0;
    return rotating ? (int)(sample % state->ctx->size) : 0;
}

static void prepare_call(struct state *state, const iso_task_t *task,
                         iso_call_t *call)
{
    const iso_operation_t *operation = operations.items[task->subject];
    call->comm = state->ctx->comm;
    call->send = state->send;
    call->receive = state->receive;
    if (operation->reduces) {
        call->count = (int)(task->bytes / DOUBLE);
        call->type = MPI_DOUBLE;
        return;
    }
    if (state->block.bytes != task->bytes) {
        iso_message_free(&state->block);
        iso_message_create(&state->block, task->bytes, 0);
    }
    call->count = state->block.count;
    call->type = state->block.type;
}

/** The timed loop that starts by barrier. */
static void after_barrier(struct state *state, const iso_task_t *task,
                          iso_call_t *call, double *seconds)
{
    void (*operate)(const iso_call_t *) = operations.items[task->subject]->call;
    for (long long k = 0; k < task->samples; k++) {
        call->root = root_of(state, task->first + k);
        MPI_Barrier(call->comm);
        double start = iso_now();
        for (long long b = 0; b < task->batch; b++) {
            operate(call);
        }
        seconds[k] = iso_now() - start;
    }
}

/** Sleep until shortly before a moment of this rank's clock, then watch it. */
static void wait_for(const struct state *state, double moment)
{
    bool simulated = state->ctx->clock.simulated;
    double left = moment - iso_sync_now(state->sync);
    double asleep = simulated ? left : left - AWAKE;
    if (asleep > 0) {
        struct timespec delay = {.tv_sec = (time_t)asleep};
        delay.tv_nsec = (long)(1e9 * (asleep - (double)delay.tv_sec)) + 1;
        nanosleep(&delay, NULL);
    }
    while (!simulated && iso_sync_now(state->sync) < moment) {
    }
}

/** The timed loop that starts at agreed moments. */
static void at_moments(struct state *state, const iso_task_t *task,
                       iso_call_t *call, double *seconds)
{
    void (*operate)(const iso_call_t *) = operations.items[task->subject]->call;
    const iso_sync_t *sync = state->sync;
    double agreed[2] = {0, state->distance};
    if (state->ctx->rank == 0) {
        agreed[0] = iso_sync_global(sync, iso_sync_now(sync)) + state->lead;
    }
    MPI_CHECK(MPI_Bcast(agreed, 2, MPI_DOUBLE, 0, state->ctx->control));
    for (long long k = 0; k < task->samples; k++) {
        double moment = iso_sync_local(sync, agreed[0] + (double)k * agreed[1]);
        call->root = root_of(state, task->first + k);
        bool late = iso_sync_now(sync) > moment;
        wait_for(state, moment);
        for (long long b = 0; b < task->batch; b++) {
            operate(call);
        }
        seconds[k] = late ? -1 : fmax(0, iso_sync_now(sync) - moment);
    }
}

/** Synchronise the clocks again if they have aged; rank 0 knows. */
static void keep_in_step(struct state *state)
{
    int aged = iso_sync_aged(state->sync);
    MPI_CHECK(MPI_Bcast(&aged, 1, MPI_INT, 0, state->ctx->control));
    if (aged) {
        iso_sync_refresh(state->sync);
        if (state->ctx->rank == 0) {
            iso_sync_record(state->sync, state->ctx->record);
        }
    }
}

static void perform(void *self, const iso_task_t *task, double *seconds)
{
    struct state *state = self;
    iso_call_t call;
    prepare_call(state, task, &call);
    if (state->sync) {
        keep_in_step(state);
        at_moments(state, task, &call, seconds);
    } else {
        after_barrier(state, task, &call, seconds);
    }
    for (long long k = 0; k < task->samples; k++) {
        seconds[k] /= (double)task->batch;
    }
}

/** Move the agreed moments apart until few ranks are late for them. */
static void adapt(void *self, const iso_task_t *task, long voided, double most)
{
    struct state *state = self;
    double needed = 1.5 * most * (double)task->batch + MIN_DISTANCE;
    state->voided += voided;
    state->samples += (long)task->samples;
    state->distance = fmax(MIN_DISTANCE, fmin(MAX_DISTANCE, needed));
    state->lead = fmax(MIN_LEAD, 0.9 * state->lead);
    if (10 * voided > task->samples) {
        state->distance = fmin(MAX_DISTANCE, 2 * state->distance);
        state->lead = fmin(MAX_LEAD, 2 * state->lead);
    }
}

static void record(void *self, const iso_task_t *task, const double *times,
                   int reporters, long sample)
{
    const struct state *state = self;
    const iso_operation_t *operation = operations.items[task->subject];
    iso_record_t *out = state->ctx->record;
    iso_record_text(out, "op", operation->name);
    iso_record_int(out, "p", state->ctx->size);
    iso_record_int(out, "root", root_of(state, sample));
    iso_record_doubles(out, "times", times, reporters);
}

static void open_buffers(struct state *state)
{
    int ranks = state->ctx->size;
    size_t blocks = 1, largest = (size_t)iso_sizes_largest(&options.sizes);
    for (int k = 0; k < operations.count; k++) {
        const iso_operation_t *o = operations.items[k];
        blocks = o->sends_all || o->receives_all ? (size_t)ranks : blocks;
    }
    state->send = iso_calloc(blocks * largest + 1, 1);
    state->receive = iso_calloc(blocks * largest + 1, 1);
    state->block.bytes = -1;
}

static void warn(const struct state *state)
{
    char text[160];
    if (10 * state->voided > state->samples) {
        snprintf(text, sizeof(text),
                 "%ld of %ld samples were void: a rank missed the agreed "
                 "moment; too many ranks for the processors?",
                 state->voided, state->samples);
        iso_record_warning(state->ctx->record, "late-ranks", text);
    }
}

static iso_outcome_t run(iso_context_t *ctx)
{
    struct state state = {.ctx = ctx, .lead = MIN_LEAD, .distance = 1e-3};
    open_buffers(&state);
    if (strcmp(options.sync, "window") == 0) {
        state.sync = iso_sync_create(ctx);
        if (ctx->rank == 0) {
            iso_sync_record(state.sync, ctx->record);
        }
    }
    iso_sweep_t sweep = {
        .ctx = ctx,
        .self = &state,
        .subjects = operations.count,
        .sizes = &options.sizes,
        .has_no_size = has_no_size,
        .quantum = reducing(&operations) ? DOUBLE : 1,
        .perform = perform,
        .record = record,
        .adapt = state.sync ? adapt : NULL,
    };
    iso_outcome_t outcome = iso_sweep_run(&sweep);
    if (ctx->rank == 0) {
        warn(&state);
    }
    if (state.sync) {
        iso_sync_free(state.sync);
    }
    iso_message_free(&state.block);
    free(state.receive);
    free(state.send);
    return outcome;
}

static const char *quantity(void)
{
    return "operation, slowest rank";
}

static const char *const by[] = {"op", "p", NULL};

const iso_experiment_t iso_experiment_collective = {
    .name = "collective",
    .summary = "collective operations, with the time of each rank",
    .kind = "sweep",
    .by = by,
    .options = all_options,
    .min_ranks = 2,
    .check = check,
    .resolve = resolve,
    .memory = memory,
    .quantity = quantity,
    .run = run,
};
