/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file bisection.c
 * Messages between all pairs across a cut of the ranks, all pairs at once.
 *
 * halves      i and i + N/2: half of the ranks against the other half
 * neighbours  0-1, 2-3, 4-5 ... (as mpptest -bisect)
 * random      the ranks in an order drawn with --seed, taken two by two
 *
 * With an odd number of ranks one has no partner: it sleeps and is not counted
 * in the rate. The pairs start together after a barrier; then each continues
 * independently for the samples of a pass, with the timed loops of transfer.h,
 * after one operation that is not timed.
 */
#include "base/check.h"
#include "base/random.h"
#include "messages/verification.h"
#include "sampling/sampler.h"
#include "sampling/sweep.h"
#include "sampling/time_limit.h"

static struct {
    iso_sizes_t sizes;
    const char *pairing;
    long seed;
} options;

static const iso_option_t own_options[] = {
    {"bytes", ISO_OPTION_SWEEP, "SIZES", "0,1:1MiB:x4",
     "bytes per message: 64,1KiB (list), 0:1KiB:32 (step), 1:1MiB:x4 (factor), "
     "or auto (more where the curve bends)",
     &options.sizes},
    {"pairing", ISO_OPTION_CHOICE, "halves|neighbours|random", "halves",
     "pairs of ranks, all at once: rank i with i + n/2 (halves), 2i with 2i + "
     "1 (neighbours), or random",
     &options.pairing},
    {"seed", ISO_OPTION_COUNT | ISO_EXPERT, "N", "1", "--pairing random: seed",
     &options.seed},
    {0},
};

static const iso_option_t *const all_options[] = {own_options,
                                                  iso_transfer_options,
                                                  iso_memory_options,
                                                  iso_sweep_options,
                                                  iso_time_limit_options,
                                                  iso_sampler_options,
                                                  NULL};

static int check(char *error)
{
    if (iso_transfer_check(&options.sizes, error)) {
        return -1;
    }
    return iso_sweep_check(error);
}

static double memory(int ranks)
{
    (void)ranks;
    return iso_transfer_memory(iso_sizes_largest(&options.sizes));
}

/* --- who with whom ------------------------------------------------------- */

struct state {
    const iso_context_t *ctx;
    iso_transfer_t transfer;
    MPI_Comm together; /**< all ranks that have a partner */
    int *partner;      /**< of each rank; -1: it sits out */
    int pairs;
};

/** Shuffle the ranks (Fisher and Yates). */
static void shuffle(int *order, int size)
{
    uint64_t state = options.seed;
    for (int k = size - 1; k > 0; k--) {
        int other = iso_random_below(&state, k + 1), kept = order[k];
        order[k] = order[other];
        order[other] = kept;
    }
}

/** Pair the ranks; every rank comes to the same result. */
static void pair_ranks(struct state *state)
{
    int size = state->ctx->size;
    bool halves = strcmp(options.pairing, "halves") == 0;
    state->pairs = size / 2;
    int *order = iso_calloc(size, sizeof(int)); /* pair k: 2k and 2k + 1 */
    state->partner = iso_calloc(size, sizeof(int));
    for (int r = 0; r < size; r++) {
        order[r] = r;
        state->partner[r] = -1;
    }
    if (halves) {
        for (int k = 0; k < state->pairs; k++) {
            order[2 * k] = k;
            order[2 * k + 1] = k + state->pairs;
        }
    } else if (strcmp(options.pairing, "random") == 0) {
        shuffle(order, size);
    }
    for (int k = 0; k < state->pairs; k++) {
        int i = order[2 * k], j = order[2 * k + 1];
        state->partner[i] = j;
        state->partner[j] = i;
    }
    free(order);
}

/** Whether a rank is the timing one of its pair. */
static bool leads(const struct state *state, int rank)
{
    return state->partner[rank] > rank;
}

static void record_pairs(const struct state *state)
{
    iso_record_t *record = state->ctx->record;
    for (int r = 0; r < state->ctx->size; r++) {
        if (leads(state, r)) {
            ISO_RECORD(record, "cut", ("i", r), ("j", state->partner[r]));
        } else if (state->partner[r] < 0) {
            ISO_RECORD(record, "bystander", ("rank", r));
        }
    }
}

/** Verify the transfers of all pairs. @return whether all are right */
static bool verify(struct state *state)
{
    iso_pair_t *pairs = iso_calloc(state->pairs, sizeof(*pairs));
    int count = 0;
    for (int r = 0; r < state->ctx->size; r++) {
        if (leads(state, r)) {
            pairs[count++] = (iso_pair_t){r, state->partner[r]};
        }
    }
    bool right = iso_transfer_verify(&state->transfer, &options.sizes, pairs,
                                     count) == count;
    free(pairs);
    return right;
}

/* --- what the sweep asks ------------------------------------------------- */

static bool takes_part(void *self, int subject, int rank)
{
    (void)subject;
    return ((struct state *)self)->partner[rank] >= 0;
}

static bool reports(void *self, int subject, int rank)
{
    (void)subject;
    return leads(self, rank);
}

static void perform(void *self, const iso_task_t *task, double *seconds)
{
    struct state *state = self;
    iso_transfer_t *transfer = &state->transfer;
    int rank = state->ctx->rank;
    iso_transfer_set(transfer, state->partner[rank], task->bytes);
    iso_transfer_meet(transfer, leads(state, rank));
    MPI_CHECK(MPI_Barrier(state->together));
    /* The first operation is not timed: in it the two wait for each other to
     * leave the barrier. */
    if (leads(state, rank)) {
        iso_transfer_lead(transfer, 1, 1, seconds);
        iso_transfer_lead(transfer, task->samples, task->batch, seconds);
    } else {
        iso_transfer_answer(transfer, 1);
        iso_transfer_answer(transfer, (task->samples * task->batch));
    }
}

static void record(void *self, const iso_task_t *task, const double *times,
                   int reporters, long sample)
{
    const struct state *state = self;
    iso_record_t *out = state->ctx->record;
    double rate = 0;
    (void)sample;
    for (int k = 0; k < reporters; k++) {
        rate += times[k] > 0 ? (double)task->bytes / times[k] : 0;
    }
    ISO_MEMBERS(out, ("p", state->ctx->size), ("pairs", state->pairs),
                ("rate", rate * iso_transfer_directions()));
    iso_record_doubles(out, "times", times, reporters);
}

static iso_outcome_t run(iso_context_t *ctx)
{
    struct state state = {.ctx = ctx};
    pair_ranks(&state);
    bool active = state.partner[ctx->rank] >= 0;
    MPI_CHECK(MPI_Comm_split(ctx->comm, active ? 0 : MPI_UNDEFINED, ctx->rank,
                             &state.together));
    if (ctx->rank == 0) {
        record_pairs(&state);
    }
    iso_transfer_init(&state.transfer, ctx,
                      active ? iso_sizes_largest(&options.sizes) : 0);
    ctx->failed = !verify(&state);
    iso_sweep_t sweep = {
        .ctx = ctx,
        .self = &state,
        .subjects = ctx->failed ? 0 : 1,
        .sizes = &options.sizes,
        .quantum = iso_transfer_quantum(),
        .takes_part = takes_part,
        .reports = reports,
        .perform = perform,
        .record = record,
    };
    iso_outcome_t outcome = iso_sweep_run(&sweep);
    iso_transfer_free(&state.transfer);
    if (active) {
        MPI_CHECK(MPI_Comm_free(&state.together));
    }
    free(state.partner);
    return outcome;
}

static const char *const by[] = {"p", "pairs", NULL};

const iso_experiment_t iso_experiment_bisection = {
    .name = "bisection",
    .summary = "messages between all pairs across a bisection at once",
    .kind = "sweep",
    .by = by,
    .options = all_options,
    .min_ranks = 2,
    .check = check,
    .check_ranks = iso_transfer_check_ranks,
    .check_node = iso_transfer_check_node,
    .resolve = iso_sampler_resolve,
    .memory = memory,
    .quantity = iso_transfer_quantity,
    .run = run,
};
