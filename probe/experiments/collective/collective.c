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
 *
 * Each form of an operation (messages/forms.h) is a subject, too. One that is
 * not blocking is timed alone and then beside a computation (overlap.h).
 */
#include "base/check.h"
#include "experiments/collective/overlap.h"
#include "experiments/collective/staging.h"
#include "experiments/collective/verified.h"
#include "messages/patterns.h"
#include "sampling/sampler.h"
#include "sampling/time_limit.h"

#include <limits.h>
#include <math.h>

static struct {
    iso_sizes_t sizes;
    const char *names, *grids, *forms, *root, *sync;
} options;

static iso_op_request_t request;

/** The names of all operations, for --help. */
#define LISTED(X, name, ...) ", " #name

static const iso_option_t own_options[] = {
    {"op", ISO_OPTION_TEXT, "OP,...", "barrier,bcast,allreduce,alltoall",
     "all, or some of: barrier" ISO_MOVING_OPERATIONS(LISTED, ) ", exchange",
     &options.names},
    {"bytes", ISO_OPTION_SWEEP, "SIZES", "8,64:1MiB:x4",
     "block of each rank: 64,1KiB (list), 0:1KiB:32 (step), 1:1MiB:x4 "
     "(factor), or auto (more where the curve bends)",
     &options.sizes},
    {"form", ISO_OPTION_TEXT, "FORM,...", "blocking",
     "all (the first three), or some of: blocking, nonblocking, persistent, "
     "put, put_local, get, get_local",
     &options.forms},
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
    {"counts", ISO_OPTION_CHOICE, "uniform|linear|one-large|random", "uniform",
     "blocks of gatherv, alltoallv and the like; --bytes is their mean",
     &request.blocks.counts},
    {"topology", ISO_OPTION_CHOICE, "cartesian|graph", "cartesian",
     "neighbours: a periodic grid (cartesian), or random ones (graph)",
     &request.blocks.topology},
    {"neighbours", ISO_OPTION_COUNT, "N", "4",
     "neighbours of each rank; cartesian: two in each dimension",
     &request.blocks.neighbors},
    {"seed", ISO_OPTION_COUNT | ISO_EXPERT, "N", "1",
     "--counts random, --topology graph: seed", &request.blocks.seed},
    {"type", ISO_OPTION_CHOICE, ISO_ELEMENT_WORDS, "byte",
     "elements of messages; strided is every second double, as a derived type "
     "(bytes are reduced as doubles)",
     &request.element},
    {"reduce", ISO_OPTION_CHOICE, ISO_REDUCTION_WORDS, "sum",
     "how elements are reduced; user: added by a function of the program",
     &request.reduction},
    {"in-place", ISO_OPTION_FLAG, NULL, NULL,
     "send from the receive buffer (MPI_IN_PLACE); --op all: those that can",
     &request.in_place},
    {0},
};

static const iso_option_t *const all_options[] = {
    own_options,         iso_overlap_options,
    iso_memory_options,  iso_sync_options,
    iso_sweep_options,   iso_time_limit_options,
    iso_sampler_options, NULL};

/** Members that identify a curve; with --grid all of them. */
static const char *by[] = {"op", "p", NULL, "phase", "groups", NULL};

/* --- the options --------------------------------------------------------- */

static int check_elements(char *error)
{
    int quantum = iso_op_request_quantum(&request);
    for (int k = 0; k < options.sizes.count; k++) {
        if (options.sizes.bytes[k] % quantum != 0) {
            return ISO_REFUSE(
                error,
                "--bytes %lld is not a multiple of %d: --op %.60s "
                "on elements of this size (--type)",
                options.sizes.bytes[k], quantum, options.names);
        }
    }
    return 0;
}

/** Check that the int counts of MPI hold the elements of a call. */
static int check_counts(int ranks, char *error)
{
    long long bytes = iso_sizes_largest(&options.sizes);
    for (int k = 0; k < request.operation_count; k++) {
        const iso_operation_t *o = request.operations[k];
        const iso_element_t *e = iso_op_request_element(&request, o);
        double most = iso_blocks_room(&request.blocks, o, !o->sends_all, ranks);
        double elements = (double)bytes / e->size;
        elements *= o->varying ? most * (o->in_bytes ? e->extent : 1) : 1;
        if (elements > INT_MAX && (e->size > 1 || o->varying)) {
            return ISO_REFUSE(error,
                              "--op %s: --bytes %lld on %d ranks exceeds the "
                              "int count of a call (give smaller --bytes)",
                              o->name, bytes, ranks);
        }
    }
    return 0;
}

static int check(char *error)
{
    if (iso_op_request_parse(options.names, options.grids, options.forms,
                             &request, error) ||
        check_elements(error)) {
        return -1;
    }
    if (options.grids && request.in_place) {
        return ISO_REFUSE(error, "--grid is not measured with --in-place; give "
                                 "only one of them");
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
    if (iso_op_request_has_other_forms(&request)) {
        iso_memory_needs_mpi("--form", options.forms);
    }
    const iso_block_rules_t *blocks = &request.blocks;
    bool odd = blocks->neighbors % 2 && strcmp(blocks->topology, "graph") != 0;
    if (blocks->neighbors < 1 || blocks->neighbors > ISO_MAX_NEIGHBORS || odd) {
        return ISO_REFUSE(error,
                          "--neighbours is 1 to %d; even, unless you "
                          "give --topology graph",
                          ISO_MAX_NEIGHBORS);
    }
    return iso_overlap_check(error) || iso_sync_check(error)
               ? -1
               : iso_sweep_check(error);
}

static int check_ranks(int ranks, char *error)
{
    char why[ISO_ERROR_LENGTH];
    for (int k = 0; k < request.grid_count; k++) {
        if (iso_grid_check(&request.grids[k], ranks, why)) {
            return ISO_REFUSE(error, "--grid: %.240s", why);
        }
    }
    if (check_counts(ranks, error)) {
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
    iso_message_t block; /**< of the current size, in bytes */
    iso_block_layout_t layout;
    iso_call_blocks_t blocks;     /**< of the current call, where they vary */
    const iso_element_t *element; /**< of the type that follows */
    MPI_Datatype type;
    MPI_Op reduction;
    iso_buffer_t send, receive;
    iso_call_t *calls;     /**< room for all of this rank's groups */
    MPI_Request *requests; /**< of forms that are not blocking, by root */
    MPI_Win window;        /**< of a one-sided form */
    iso_overlap_t overlap;
    bool *at_work; /**< of each rank, in the task at hand */
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

/** Have the type of an element, and its reduction. */
static void take_element(struct state *state, const iso_element_t *element)
{
    if (state->element == element) {
        return;
    }
    if (state->element) {
        iso_element_free(state->element, &state->type);
        iso_reduction_free(&state->reduction, request.reduction);
    }
    state->element = element;
    if (element) {
        state->type = iso_element_type(element);
        state->reduction = iso_reduction(element, request.reduction);
        iso_blocks_free(&state->blocks); /* of another type */
    }
}

static iso_call_t call_of(struct state *state, const iso_subject_t *subject,
                          long long bytes)
{
    const iso_operation_t *operation = subject->operation;
    const iso_element_t *element = iso_op_request_element(&request, operation);
    long long block = iso_subject_block(subject, bytes);
    take_element(state, element);
    iso_call_t call = {.comm = state->ctx->comm,
                       .send = state->send.at,
                       .receive = state->receive.at,
                       .count = (int)(block / (long long)element->size),
                       .type = state->type,
                       .reduction = state->reduction,
                       .in_place = -1,
                       .grid = subject->grid,
                       .begin = subject->begin,
                       .requests = state->requests,
                       .operation = operation,
                       .window = &state->window,
                       .block = (MPI_Aint)(block / (long long)element->size *
                                           (long long)element->extent)};
    if (element->size == 1 && block > INT_MAX) { /* then blocks do not vary */
        if (state->block.bytes != block) {
            iso_message_free(&state->block);
            iso_message_create(&state->block, block, 0);
        }
        call.count = state->block.count;
        call.type = state->block.type;
    }
    if (request.in_place && operation->rooted) {
        call.in_place = state->ctx->rank;
    } else if (request.in_place) {
        call.send = MPI_IN_PLACE;
    }
    iso_blocks_set(&state->blocks, &state->layout, operation, &call);
    return call;
}

/** Requests of all roots, or of all messages. */
static int request_room(const struct state *state)
{
    return state->ctx->size + 2 * ISO_MAX_NEIGHBORS;
}

static void free_requests(struct state *state)
{
    for (int k = 0; k < request_room(state); k++) {
        if (state->requests[k] != MPI_REQUEST_NULL) {
            MPI_CHECK(MPI_Request_free(&state->requests[k]));
        }
    }
    iso_pattern_withdraw(&state->window);
}

/** Make the window of a task, or its persistent requests, and use each once:
 *  what is first done by its use is not timed. */
static void make_requests(struct state *state, const iso_subject_t *subject,
                          iso_call_t call)
{
    free_requests(state);
    if (subject->form >= ISO_PUT) {
        iso_pattern_expose(&call, subject->form < ISO_GET);
    }
    bool each = rotating(subject) && !subject->operation->by_messages;
    int roots = each ? state->ctx->size : 1;
    for (int root = 0; root < roots && subject->form == ISO_PERSISTENT;
         root++) {
        call.root = root;
        iso_form_init(subject->operation, &call);
        iso_form_complete(&call);
    }
}

/** Bytes of a buffer that a subject uses. */
static size_t room_of(const struct state *state, const iso_subject_t *subject,
                      bool received, long long bytes)
{
    const iso_operation_t *operation = subject->operation;
    const iso_element_t *element = iso_op_request_element(&request, operation);
    double blocks =
        iso_blocks_room(&request.blocks, operation, received, subject->ranks);
    size_t rounded_up =
        operation->varying ? ISO_MAX_NEIGHBORS * element->extent : 0;
    return (size_t)(blocks * element->extent / element->size *
                    iso_subject_block(subject, bytes)) +
           rounded_up;
}

static iso_work_t work_of(struct state *state, const iso_subject_t *subject,
                          long long bytes)
{
    iso_work_t work = {
        .operate = iso_staging_of(
            subject, &state->send, room_of(state, subject, false, bytes),
            &state->receive, room_of(state, subject, true, bytes)),
        .calls = state->calls,
        .rotating = rotating(subject),
        .at_work = state->at_work};
    iso_call_t call = call_of(state, subject, bytes);
    make_requests(state, subject, call);
    int most = subject->arranged ? subject->arranged->longest : 1;
    for (int k = 0; k < most; k++) {
        state->calls[k] = call;
    }
    work.count = iso_subject_groups(subject, call.comm, work.calls);
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
    if (subject->begin && subject->form < ISO_PUT) {
        iso_overlap_run(&state->overlap, &state->start, task, &work, seconds);
    }
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
    char word[ISO_FORM_WORD];
    iso_form_word(subject->operation, subject->form, word);
    ISO_MEMBERS(out, ("op", word), ("p", state->ctx->size));
    if (request.grid_count > 0) {
        record_grid(out, subject, task->bytes);
    }
    iso_record_int(out, "root",
                   iso_start_root(&state->start, rotating(subject), sample));
    iso_record_doubles(out, "times", times, reporters);
    if (subject->begin && subject->form < ISO_PUT) {
        iso_overlap_record(&state->overlap, out, sample - task->first);
    }
}

/* --- the run ------------------------------------------------------------- */

static void open_buffers(struct state *state)
{
    size_t most = 0, calls = 1;
    long long largest = iso_sizes_largest(&options.sizes);
    for (int k = 0; k < state->subjects.count; k++) {
        const iso_subject_t *s = &state->subjects.items[k];
        size_t sent = room_of(state, s, false, largest);
        size_t received = room_of(state, s, true, largest);
        size_t bytes = sent > received ? sent : received;
        most = bytes > most ? bytes : most;
        if (s->arranged && (size_t)s->arranged->longest > calls) {
            calls = s->arranged->longest;
        }
    }
    state->send = iso_buffer_create(most + 1, ISO_SENT);
    state->receive = iso_buffer_create(most + 1, ISO_RECEIVED);
    state->calls = ISO_NEW(iso_call_t, calls);
    state->at_work = ISO_NEW(bool, state->ctx->size);
    state->requests = ISO_NEW(MPI_Request, request_room(state));
    for (int k = 0; k < request_room(state); k++) {
        state->requests[k] = MPI_REQUEST_NULL;
    }
    state->window = MPI_WIN_NULL;
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
    if (state.subjects.lacks_persistent && ctx->rank == 0) {
        iso_record_warning(ctx->record, "form-left-out",
                           "form 'persistent' skipped: this MPI library has no "
                           "persistent collective operations (MPI 4)");
    }
    open_buffers(&state);
    iso_overlap_begin(&state.overlap, ctx);
    bool topology = false;
    for (int k = 0; k < request.operation_count; k++) {
        topology = topology || request.operations[k]->neighbors;
    }
    iso_block_layout_create(&state.layout, &request.blocks, topology,
                            ctx->comm);
    ctx->failed = state.subjects.count == 0 ||
                  iso_verified(ctx, &state.subjects, &request, &options.sizes,
                               &state, work_on) > 0;
    iso_start_begin(&state.start, ctx, strcmp(options.sync, "window") == 0);
    iso_sweep_t sweep = {
        .ctx = ctx,
        .self = &state,
        .subjects = state.subjects.count,
        .sizes = &options.sizes,
        .has_no_size = has_no_size,
        .quantum = iso_op_request_quantum(&request),
        .reports = reports,
        .perform = perform,
        .record = record,
        .adapt = state.start.sync ? adapt : NULL,
    };
    iso_outcome_t outcome = iso_sweep_run(&sweep);
    iso_start_end(&state.start);
    iso_overlap_end(&state.overlap);
    free_requests(&state);
    iso_message_free(&state.block);
    iso_blocks_free(&state.blocks);
    iso_block_layout_free(&state.layout);
    take_element(&state, NULL);
    free(state.requests);
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
    .threads = iso_overlap_threads,
    .memory = memory,
    .quantity_text = "operation, slowest rank",
    .run = run,
};
