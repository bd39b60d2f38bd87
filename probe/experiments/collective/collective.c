/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file collective.c
 * Times collective operations: the library's own and, with --grid, two-phase
 * algorithms (grid/collectives.h) and their separate phases. All ranks start
 * together (start.h). The time of each rank is recorded; that of the operation
 * is the slowest.
 *
 * A separate phase starts like the whole operation, on all ranks. Then either
 * the group of rank 0 works alone, while the others sleep, or all groups of
 * the phase work at once; its time is that of the slowest rank at work. All of
 * them are subjects of one sweep (subjects.h), visited in turn.
 */
#include "base/check.h"
#include "experiments/collective/staging.h"
#include "experiments/collective/verified.h"
#include "sampling/sampler.h"
#include "sampling/time_limit.h"

#include <limits.h>

enum { DOUBLE = sizeof(double) };

static struct {
    iso_sizes_t sizes;
    const char *names, *grids, *root, *sync;
} options;

static const iso_option_t own_options[] = {
    {"op", ISO_OPTION_TEXT, "OP,...", "barrier,bcast,allreduce,alltoall",
     "all, or some of: barrier, bcast, reduce, allreduce, gather, scatter, "
     "allgather, alltoall, reduce_scatter_block, scan",
     &options.names},
    {"bytes", ISO_OPTION_SWEEP, "SIZES", "8:512KiB:x4",
     "block of each rank: 64,1KiB (list), 0:1KiB:32 (step), 1:1MiB:x4 "
     "(factor), or auto (more where the curve bends)",
     &options.sizes},
    {"grid", ISO_OPTION_TEXT, "GRID,...", NULL,
     "also measure two-phase algorithms on grids of ranks: 4x8 (4 rows of 8), "
     "rows-of-5, nodes (a row per node) (default: none)",
     &options.grids},
    {"root", ISO_OPTION_CHOICE, "fixed|rotating", "fixed",
     "root of an operation: rank 0 (fixed), or each rank in turn (rotating)",
     &options.root},
    {"sync", ISO_OPTION_CHOICE, "barrier|window", "barrier",
     "ranks start after a barrier (barrier), or at an agreed time of "
     "synchronised clocks (window)",
     &options.sync},
    {0},
};

static const iso_option_t *const all_options[] = {own_options,
                                                  iso_memory_options,
                                                  iso_sync_options,
                                                  iso_sweep_options,
                                                  iso_time_limit_options,
                                                  iso_sampler_options,
                                                  NULL};

static iso_op_request_t request;

/** Members that identify a curve; with --grid all of them. */
static const char *by[] = {"op", "p", NULL, "phase", "groups", NULL};

/* --- the options --------------------------------------------------------- */

static int check_doubles(char *error)
{
    if (!iso_op_request_reduces(&request)) {
        return 0;
    }
    for (int k = 0; k < options.sizes.count; k++) {
        if (options.sizes.bytes[k] % DOUBLE != 0) {
            return ISO_REFUSE(
                error,
                "--op %.60s reduces doubles: --bytes %lld is not a "
                "multiple of 8",
                options.names, options.sizes.bytes[k]);
        }
    }
    if (iso_sizes_largest(&options.sizes) / DOUBLE > INT_MAX) {
        return ISO_REFUSE(
            error,
            "--op %.60s takes at most 16 GiB (its count of doubles is an int)",
            options.names);
    }
    return 0;
}

static int check(char *error)
{
    if (iso_op_request_parse(options.names, options.grids, &request, error) ||
        check_doubles(error)) {
        return -1;
    }
    if (options.grids && options.sizes.automatic) {
        return ISO_REFUSE(error,
                          "--grid needs equal sizes for all algorithms: give "
                          "--bytes a list or range, such as 8:512KiB:x4");
    }
    if (options.grids && iso_memory_on_gpu()) {
        return ISO_REFUSE(error, "--grid: algorithms on grids need --memory "
                                 "host; remove --memory or --grid");
    }
    return iso_sync_check(error) ? -1 : iso_sweep_check(error);
}

static int check_ranks(int ranks, char *error)
{
    if (iso_op_request_check_ranks(&request, ranks, error)) {
        return -1;
    }
    return iso_subjects_check(&request, iso_sizes_largest(&options.sizes),
                              ranks, error);
}

static void resolve(int ranks)
{
    by[2] = request.grid_count > 0 ? "grid" : NULL;
    iso_sampler_resolve(ranks);
}

static double memory(int ranks)
{
    double largest = iso_sizes_largest(&options.sizes);
    return iso_subjects_memory(&request, largest, ranks) +
           2 * ISO_VERIFIED_BYTES;
}

/* --- what the sweep asks ------------------------------------------------- */

struct state {
    const iso_context_t *ctx;
    iso_start_t start;
    iso_subjects_t subjects;
    iso_message_t
        block; /**< of the current size, for operations that do not reduce */
    iso_buffer_t send, receive;
    iso_call_t *calls; /**< room for all of this rank's groups */
    bool *at_work;     /**< of each rank, in the task at hand */
};

static bool has_no_size(void *self, int subject)
{
    const struct state *state = self;
    return state->subjects.items[subject].operation->empty;
}

static bool reports(void *self, int subject, int rank)
{
    const struct state *state = self;
    return iso_subject_works(&state->subjects.items[subject], rank);
}

static bool rotating(const iso_subject_t *subject)
{
    return subject->phase == NULL && strcmp(options.root, "rotating") == 0;
}

static iso_call_t call_of(struct state *state, const iso_subject_t *subject,
                          long long bytes)
{
    iso_call_t call = {.comm = state->ctx->comm,
                       .send = state->send.at,
                       .receive = state->receive.at,
                       .grid = subject->grid};
    long long block = iso_subject_block(subject, bytes);
    if (subject->operation->reduces) {
        call.count = block / DOUBLE;
        call.type = MPI_DOUBLE;
        return call;
    }
    if (state->block.bytes != block) {
        iso_message_free(&state->block);
        iso_message_create(&state->block, block, 0);
    }
    call.count = state->block.count;
    call.type = state->block.type;
    return call;
}

static iso_work_t work_of(struct state *state, const iso_subject_t *subject,
                          long long bytes)
{
    iso_work_t work = {
        .operate = iso_staging_of(subject, iso_subject_block(subject, bytes),
                                  &state->send, &state->receive),
        .calls = state->calls,
        .rotating = rotating(subject),
        .at_work = state->at_work};
    iso_call_t call = call_of(state, subject, bytes);
    int most = subject->arranged ? subject->arranged->longest : 1;
    for (int k = 0; k < most; k++) {
        state->calls[k] = call;
    }
    work.count = iso_subject_groups(subject, state->ctx->comm, work.calls);
    for (int r = 0; r < state->ctx->size; r++) {
        state->at_work[r] = iso_subject_works(subject, r);
        work.some_wait = work.some_wait || !state->at_work[r];
    }
    return work;
}

static iso_work_t work_on(void *self, const iso_subject_t *subject,
                          long long bytes, const iso_buffer_t *send,
                          const iso_buffer_t *receive)
{
    struct state *state = self, own = *state;
    state->send = *send;
    state->receive = *receive;
    iso_work_t work = work_of(state, subject, bytes);
    state->send = own.send;
    state->receive = own.receive;
    return work;
}

static void perform(void *self, const iso_task_t *task, double *seconds)
{
    struct state *state = self;
    const iso_subject_t *subject = &state->subjects.items[task->subject];
    iso_work_t work = work_of(state, subject, task->bytes);
    iso_start_run(&state->start, task, &work, seconds);
}

static void adapt(void *self, const iso_task_t *task, long voided, double most)
{
    struct state *state = self;
    iso_start_adapt(&state->start, task, voided, most);
}

/** Record the algorithm and, of a phase, the operation called in it. */
static void record_grid(iso_record_t *out, const iso_subject_t *subject,
                        long long bytes)
{
    char word[ISO_GRID_WORD] = "library";
    const iso_grid_phase_t *phase = subject->phase;
    if (subject->grid) {
        iso_grid_word(subject->grid, word);
    }
    ISO_MEMBERS(out, ("grid", word),
                ("phase", phase == NULL ? "total"
                          : phase->rows ? "CG"
                                        : "LG"),
                ("groups", subject->groups));
    if (phase) {
        ISO_MEMBERS(out, ("phase_op", subject->operation->name),
                    ("phase_p", subject->ranks),
                    ("phase_bytes", iso_subject_block(subject, bytes)));
    }
}

static void record(void *self, const iso_task_t *task, const double *times,
                   int reporters, long sample)
{
    const struct state *state = self;
    const iso_subject_t *subject = &state->subjects.items[task->subject];
    iso_record_t *out = state->ctx->record;
    ISO_MEMBERS(out, ("op", subject->operation->name), ("p", state->ctx->size));
    if (request.grid_count > 0) {
        record_grid(out, subject, task->bytes);
    }
    iso_record_int(out, "root",
                   iso_start_root(&state->start, rotating(subject), sample));
    iso_record_doubles(out, "times", times, reporters);
}

/* --- the run ------------------------------------------------------------- */

static void open_buffers(struct state *state)
{
    size_t most = 0, calls = 1;
    long long largest = iso_sizes_largest(&options.sizes);
    for (int k = 0; k < state->subjects.count; k++) {
        const iso_subject_t *s = &state->subjects.items[k];
        const iso_operation_t *o = s->operation;
        size_t blocks = o->sends_all || o->receives_all ? s->ranks : 1;
        size_t bytes = blocks * iso_subject_block(s, largest);
        most = bytes > most ? bytes : most;
        if (s->arranged && (size_t)s->arranged->longest > calls) {
            calls = s->arranged->longest;
        }
    }
    state->send = iso_buffer_create(most + 1, ISO_SENT);
    state->receive = iso_buffer_create(most + 1, ISO_RECEIVED);
    state->calls = iso_calloc(calls, sizeof(*state->calls));
    state->at_work = iso_calloc(state->ctx->size, sizeof(bool));
    state->block.bytes = -1;
}

static iso_outcome_t run(iso_context_t *ctx)
{
    struct state state = {.ctx = ctx};
    iso_subjects_create(&state.subjects, &request,
                        iso_sizes_largest(&options.sizes), ctx->comm);
    if (state.subjects.left_out >= 0 && ctx->rank == 0) {
        iso_record_warning(ctx->record, "grid-left-out", "%s",
                           state.subjects.why);
    }
    open_buffers(&state);
    ctx->failed =
        iso_verified(ctx, &state.subjects, &options.sizes, &state, work_on) > 0;
    iso_start_begin(&state.start, ctx, strcmp(options.sync, "window") == 0);
    iso_sweep_t sweep = {
        .ctx = ctx,
        .self = &state,
        .subjects = state.subjects.count,
        .sizes = &options.sizes,
        .has_no_size = has_no_size,
        .quantum = iso_op_request_reduces(&request) ? DOUBLE : 1,
        .reports = reports,
        .perform = perform,
        .record = record,
        .adapt = state.start.sync ? adapt : NULL,
    };
    iso_outcome_t outcome = iso_sweep_run(&sweep);
    iso_start_end(&state.start);
    iso_message_free(&state.block);
    free(state.at_work);
    free(state.calls);
    iso_buffer_free(&state.receive);
    iso_buffer_free(&state.send);
    free(state.subjects.items);
    return outcome;
}

const iso_experiment_t iso_experiment_collective = {
    .name = "collective",
    .summary = "times of collective operations on each rank",
    .kind = "sweep",
    .by = by,
    .options = all_options,
    .min_ranks = 2,
    .check = check,
    .check_ranks = check_ranks,
    .resolve = resolve,
    .memory = memory,
    .quantity_text = "operation, slowest rank",
    .run = run,
};
