/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampling/pair_groups.h"

#include "base/check.h"
#include "base/random.h"
#include "messages/verification.h"
#include "runfile/record.h"
#include "sampling/sweep.h"

#include <pthread.h>
#include <string.h>

enum { LONG_MESSAGE = 65536, MAX_THREADS = 64 };

static struct {
    iso_counts_t pairs_at_once, threads;
    const char *pairing, *thread_comms;
    long seed;
} options;

const iso_option_t iso_pair_groups_options[] = {
    {"pairs-at-once", ISO_OPTION_COUNTS, "P,...", NULL,
     "pairs that exchange messages at the same time, such as 1,2,4: a curve "
     "each",
     &options.pairs_at_once},
    {"pairing", ISO_OPTION_CHOICE, "halves|neighbours|random", "halves",
     "pairs of ranks, all at once: rank i with i + n/2 (halves), 2i with 2i + "
     "1 (neighbours), or random",
     &options.pairing},
    {"seed", ISO_OPTION_COUNT | ISO_EXPERT, "N", "1", "--pairing random: seed",
     &options.seed},
    {"threads", ISO_OPTION_COUNTS, "T,...", NULL,
     "threads of each rank that call MPI at the same time, each with a thread "
     "of the partner: a curve each",
     &options.threads},
    {"thread-comms", ISO_OPTION_CHOICE, "shared|own", "shared",
     "--threads: one communicator for all threads, each with its own tags "
     "(shared), or one for each (own)",
     &options.thread_comms},
    {0},
};

bool iso_pair_groups_asked(void)
{
    return options.pairs_at_once.count > 0;
}

static int most(const iso_counts_t *counts)
{
    int largest = 1;
    for (int k = 0; k < counts->count; k++) {
        largest = counts->value[k] > largest ? counts->value[k] : largest;
    }
    return largest;
}

int iso_pair_groups_threads(void)
{
    return options.threads.count ? most(&options.threads) : 0;
}

double iso_pair_groups_memory(long long largest)
{
    return most(&options.threads) * iso_transfer_memory(largest);
}

/** Whether a list has a number twice. */
static bool repeated(const iso_counts_t *counts)
{
    bool twice = false;
    for (int k = 1; k < counts->count; k++) {
        for (int j = 0; j < k; j++) {
            twice = twice || counts->value[j] == counts->value[k];
        }
    }
    return twice;
}

int iso_pair_groups_check(char *error)
{
    if (repeated(&options.pairs_at_once) || repeated(&options.threads)) {
        return ISO_REFUSE(error, "%s has a number twice",
                          repeated(&options.threads) ? "--threads"
                                                     : "--pairs-at-once");
    }
    if (most(&options.threads) > MAX_THREADS) {
        return ISO_REFUSE(error, "--threads is 1 to %d", MAX_THREADS);
    }
    if (iso_pair_groups_threads() && iso_in_simulator()) {
        return ISO_REFUSE(error, "--threads: a simulated rank has no threads; "
                                 "measure with a real MPI library");
    }
    if (iso_pair_groups_threads() && iso_memory_on_gpu()) {
        return ISO_REFUSE(error, "--threads needs --memory host; remove one of "
                                 "them");
    }
    return 0;
}

int iso_pair_groups_check_ranks(int ranks, char *error)
{
    int largest = most(&options.pairs_at_once);
    return largest <= ranks / 2
               ? 0
               : ISO_REFUSE(error,
                            "--pairs-at-once: %d pairs need %d ranks, got %d",
                            largest, 2 * largest, ranks);
}

void iso_pair_groups_resolve(bool single_pairs, int ranks, const char *by[4])
{
    if (!single_pairs && !iso_pair_groups_asked()) {
        options.pairs_at_once = (iso_counts_t){1, {ranks / 2}};
    }
    by[0] = single_pairs ? "i" : "p";
    by[1] = single_pairs ? "j" : "pairs";
    by[2] = iso_pair_groups_threads() ? "threads" : NULL;
    by[3] = NULL;
}

/* --- who with whom ------------------------------------------------------- */

/** Pairs at the same time, a subject of the sweep. */
struct group {
    const iso_pair_t *pairs;
    int count, threads;
};

/** A thread of a rank: its part of the task at hand. */
struct lane {
    pthread_t thread;
    iso_context_t ctx;
    iso_transfer_t transfer;
    const iso_task_t *task;
    bool leads;
    long untimed;
    double *seconds;
};

struct state {
    iso_context_t *ctx;
    bool single_pairs;
    iso_pair_t *pairs; /**< all of the pairing, by their lower rank */
    int *number;       /**< of the pair of each rank; -1: it has none */
    struct group *groups;
    int group_count;
    struct lane *lanes;
    int lane_count;
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

static int by_lower_rank(const void *a, const void *b)
{
    return ((const iso_pair_t *)a)->i - ((const iso_pair_t *)b)->i;
}

/** Pair the ranks; every rank comes to the same result. */
static void pair_ranks(struct state *state)
{
    int size = state->ctx->size, count = size / 2;
    bool halves = strcmp(options.pairing, "halves") == 0;
    int *order = ISO_NEW(int, size);
    iso_pair_t *pairs = ISO_NEW(iso_pair_t, count);
    state->number = ISO_NEW(int, size);
    for (int r = 0; r < size; r++) {
        order[r] = r;
        state->number[r] = -1;
    }
    if (strcmp(options.pairing, "random") == 0) {
        shuffle(order, size);
    }
    for (int k = 0; k < count; k++) {
        int a = halves ? k : order[2 * k];
        int b = halves ? k + count : order[2 * k + 1];
        pairs[k] = (iso_pair_t){a < b ? a : b, a < b ? b : a};
    }
    qsort(pairs, count, sizeof(*pairs), by_lower_rank);
    for (int k = 0; k < count; k++) {
        state->number[pairs[k].i] = state->number[pairs[k].j] = k;
    }
    state->pairs = pairs;
    free(order);
}

/** Fill the groups: each pair that is listed, or each number of pairs, with
 *  each number of threads. */
static void form_groups(struct state *state, const iso_pair_t *listed,
                        int listed_count)
{
    int each = listed ? listed_count : options.pairs_at_once.count;
    int numbers = options.threads.count ? options.threads.count : 1;
    state->single_pairs = listed != NULL;
    if (!listed) {
        pair_ranks(state);
    }
    state->groups = ISO_NEW(struct group, (size_t)each * numbers);
    for (int k = 0; k < each; k++) {
        for (int t = 0; t < numbers; t++) {
            state->groups[state->group_count++] = (struct group){
                .pairs = listed ? listed + k : state->pairs,
                .count = listed ? 1 : options.pairs_at_once.value[k],
                .threads = options.threads.count ? options.threads.value[t] : 1,
            };
        }
    }
}

/** The pair of a rank in a group, or NULL. */
static const iso_pair_t *pair_of(const struct state *state,
                                 const struct group *group, int rank)
{
    if (state->single_pairs) {
        const iso_pair_t *pair = group->pairs;
        return pair->i == rank || pair->j == rank ? pair : NULL;
    }
    int number = state->number[rank];
    return number >= 0 && number < group->count ? &group->pairs[number] : NULL;
}

/** Write the pairs of the largest group, and which ranks have no partner. */
static void record_pairs(const struct state *state)
{
    iso_record_t *record = state->ctx->record;
    for (int k = 0; k < most(&options.pairs_at_once); k++) {
        const iso_pair_t *pair = &state->pairs[k];
        ISO_RECORD(record, "cut", ("i", pair->i), ("j", pair->j));
    }
    for (int r = 0; r < state->ctx->size; r++) {
        if (state->number[r] < 0) {
            ISO_RECORD(record, "bystander", ("rank", r));
        }
    }
}

/* --- what the sweep asks ------------------------------------------------- */

static bool takes_part(void *self, int subject, int rank)
{
    const struct state *state = self;
    return pair_of(state, &state->groups[subject], rank) != NULL;
}

static bool reports(void *self, int subject, int rank)
{
    const struct state *state = self;
    const iso_pair_t *pair = pair_of(state, &state->groups[subject], rank);
    return pair != NULL && pair->i == rank;
}

static int times_each(void *self, int subject)
{
    return ((struct state *)self)->groups[subject].threads;
}

/** Let all ranks of a group start together. */
static void start_together(const struct state *state, const struct group *group)
{
    int *ranks = ISO_NEW(int, (size_t)2 * group->count), place = 0;
    for (int k = 0; k < 2 * group->count; k++) {
        const iso_pair_t *pair = &group->pairs[k / 2];
        ranks[k] = k % 2 ? pair->j : pair->i;
        place = ranks[k] == state->ctx->rank ? k : place;
    }
    iso_subset_barrier(state->ctx->control, ranks, 2 * group->count, place);
    free(ranks);
}

/** What a thread does in a task. */
static void *work(void *argument)
{
    struct lane *lane = argument;
    const iso_task_t *task = lane->task;
    long steps = iso_clock_state.steps;
    for (long k = 0; k < lane->untimed; k++) {
        if (lane->leads) {
            iso_transfer_lead(&lane->transfer, 1, 1, lane->seconds);
        } else {
            iso_transfer_answer(&lane->transfer, 1);
        }
    }
    if (lane->leads) {
        iso_transfer_lead(&lane->transfer, task->samples, task->batch,
                          lane->seconds);
        iso_clock_void(lane->seconds, task->samples, steps);
    } else {
        iso_transfer_answer(&lane->transfer, task->samples * task->batch);
    }
    return NULL;
}

/** Untimed operations of a pass: the first ones find the caches and the
 *  processors as the sleep before it has left them. A long message takes longer
 *  than that costs. In the first one, pairs of a group wait for each other to
 *  leave the barrier, and threads for each other to start. */
static long untimed(const struct group *group, long long bytes)
{
    bool together = group->count > 1 || group->threads > 1;
    return bytes <= LONG_MESSAGE ? 2 : together ? 1 : 0;
}

static void perform(void *self, const iso_task_t *task, double *seconds)
{
    struct state *state = self;
    const struct group *group = &state->groups[task->subject];
    const iso_pair_t *pair = pair_of(state, group, state->ctx->rank);
    bool leads = state->ctx->rank == pair->i;
    for (int k = 0; k < group->threads; k++) {
        struct lane *lane = &state->lanes[k];
        iso_transfer_set(&lane->transfer, leads ? pair->j : pair->i,
                         task->bytes);
        lane->task = task;
        lane->leads = leads;
        lane->untimed = untimed(group, task->bytes);
        lane->seconds = seconds + k * task->samples;
    }
    iso_transfer_meet(&state->lanes[0].transfer, leads);
    if (group->count > 1) {
        start_together(state, group);
    }
    for (int k = 1; k < group->threads; k++) {
        struct lane *lane = &state->lanes[k];
        if (pthread_create(&lane->thread, NULL, work, lane) != 0) {
            ISO_FAIL("cannot start thread %d of %d", k + 1, group->threads);
        }
    }
    work(&state->lanes[0]);
    for (int k = 1; k < group->threads; k++) {
        pthread_join(state->lanes[k].thread, NULL);
    }
}

static void record(void *self, const iso_task_t *task, const double *times,
                   int reporters, long sample)
{
    const struct state *state = self;
    const struct group *group = &state->groups[task->subject];
    iso_record_t *out = state->ctx->record;
    double rate = 0;
    for (int k = 0; k < reporters; k++) {
        rate += times[k] > 0 ? (double)task->bytes / times[k] : 0;
    }
    if (state->single_pairs) {
        ISO_MEMBERS(out, ("i", group->pairs->i), ("j", group->pairs->j));
    } else {
        int all = state->ctx->size / 2;
        ISO_MEMBERS(
            out,
            ("p", group->count == all ? state->ctx->size : 2 * group->count),
            ("pairs", group->count));
    }
    if (iso_pair_groups_threads()) {
        iso_record_int(out, "threads", group->threads);
    }
    if (!state->single_pairs || iso_pair_groups_threads()) {
        iso_record_double(out, "rate", rate * iso_transfer_directions());
        iso_record_doubles(out, "times", times, reporters);
    }
}

/* --- the run ------------------------------------------------------------- */

/** Prepare the threads; all ranks have the same number. Collective. */
static void open_lanes(struct state *state, long long largest)
{
    bool involved = false, own = strcmp(options.thread_comms, "own") == 0;
    for (int k = 0; k < state->group_count; k++) {
        involved = involved || takes_part(state, k, state->ctx->rank);
    }
    state->lane_count = most(&options.threads);
    state->lanes = ISO_NEW(struct lane, state->lane_count);
    for (int k = 0; k < state->lane_count; k++) {
        struct lane *lane = &state->lanes[k];
        lane->ctx = *state->ctx;
        if (own && k > 0) {
            MPI_CHECK(MPI_Comm_dup(state->ctx->comm, &lane->ctx.comm));
        }
        iso_transfer_init(&lane->transfer, &lane->ctx, involved ? largest : 0);
        lane->transfer.thread = own ? 0 : k;
    }
}

static void close_lanes(struct state *state)
{
    for (int k = 0; k < state->lane_count; k++) {
        struct lane *lane = &state->lanes[k];
        iso_transfer_free(&lane->transfer);
        if (lane->ctx.comm != state->ctx->comm) {
            MPI_CHECK(MPI_Comm_free(&lane->ctx.comm));
        }
    }
    free(state->lanes);
}

static bool listed(const iso_pair_t *pairs, int count, iso_pair_t pair)
{
    int k = 0;
    while (k < count && (pairs[k].i != pair.i || pairs[k].j != pair.j)) {
        k++;
    }
    return k < count;
}

/** Verify pairs with the transfers of all threads, one after another, and leave
 *  out the groups that have one with wrong data. Collective. */
static void verify(struct state *state, const iso_sizes_t *sizes,
                   const iso_pair_t *pairs, int count)
{
    iso_pair_t *right = ISO_NEW(iso_pair_t, count);
    int left = count, kept = 0;
    memcpy(right, pairs, count * sizeof(*right));
    for (int k = 0; k < state->lane_count; k++) {
        left =
            iso_transfer_verify(&state->lanes[k].transfer, sizes, right, left);
    }
    for (int g = 0; g < state->group_count; g++) {
        struct group group = state->groups[g];
        bool all_right = true;
        for (int k = 0; k < group.count && left < count; k++) {
            all_right = all_right && listed(right, left, group.pairs[k]);
        }
        if (all_right) {
            state->groups[kept++] = group;
        }
    }
    state->group_count = kept;
    state->ctx->failed = left < count;
    free(right);
}

iso_outcome_t iso_pair_groups_run(iso_context_t *ctx, const iso_sizes_t *sizes,
                                  const iso_pair_t *pairs, int count)
{
    struct state state = {.ctx = ctx};
    form_groups(&state, pairs, count);
    if (ctx->rank == 0 && !state.single_pairs) {
        record_pairs(&state);
    }
    open_lanes(&state, iso_sizes_largest(sizes));
    verify(&state, sizes, pairs ? pairs : state.pairs,
           pairs ? count : most(&options.pairs_at_once));
    iso_sweep_t sweep = {
        .ctx = ctx,
        .self = &state,
        .subjects = state.group_count,
        .sizes = sizes,
        .quantum = iso_transfer_quantum(),
        .takes_part = takes_part,
        .reports = reports,
        .times_each = times_each,
        .perform = perform,
        .record = record,
    };
    iso_outcome_t outcome = iso_sweep_run(&sweep);
    close_lanes(&state);
    free(state.groups);
    free(state.number);
    free(state.pairs);
    return outcome;
}
