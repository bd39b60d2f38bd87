/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file point_to_point.c
 * Times messages of each size between two ranks, one pair after the other. The
 * timed loops are those of transfer.h, sizes and repetitions those of sweep.h;
 * ranks that are not in the pair sleep.
 */
#include "base/pairs.h"
#include "messages/verification.h"
#include "sampling/sampler.h"
#include "sampling/sweep.h"
#include "sampling/time_limit.h"

#include <string.h>

enum { MAX_PAIRS = 256, LONG_MESSAGE = 65536 };

static struct {
    iso_sizes_t sizes;
    const char *pairs;
} options;

static const iso_option_t own_options[] = {
    {"bytes", ISO_OPTION_SWEEP, "SIZES", "0,1:4MiB:x2",
     "bytes per message: 64,1KiB (list), 0:1KiB:32 (step), 1:1MiB:x4 (factor), "
     "or auto (more where the curve bends)",
     &options.sizes},
    {"pairs", ISO_OPTION_TEXT, "I-J,...", NULL,
     "pairs of ranks to measure, such as 0-1,0-4 (default: the first and the "
     "last rank)",
     &options.pairs},
    {0},
};

static const iso_option_t *const all_options[] = {own_options,
                                                  iso_transfer_options,
                                                  iso_memory_options,
                                                  iso_sweep_options,
                                                  iso_time_limit_options,
                                                  iso_sampler_options,
                                                  NULL};

static iso_pair_t pairs[MAX_PAIRS]; /* as --pairs says, or the default */
static int pair_count;

/** Read --pairs. @return 0, or -1 with an error text */
static int parse_pairs(char *error)
{
    const char *rest = options.pairs;
    iso_pair_t pair;
    int more;
    while ((more = iso_pairs_next(&rest, &pair)) > 0 &&
           pair_count < MAX_PAIRS) {
        pairs[pair_count++] = pair;
    }
    if (more == 0) {
        return 0;
    }
    return ISO_REFUSE(
        error,
        "--pairs is '%.60s', not up to %d pairs of two ranks such as "
        "0-3,1-2",
        options.pairs, MAX_PAIRS);
}

static int check(char *error)
{
    if (parse_pairs(error) || iso_transfer_check(&options.sizes, error)) {
        return -1;
    }
    return iso_sweep_check(error);
}

static int check_ranks(int ranks, char *error)
{
    return iso_transfer_check_ranks(ranks, error) ||
           iso_pairs_check_ranks(options.pairs, ranks, error);
}

static void resolve(int ranks)
{
    if (pair_count == 0) {
        pairs[0] = (iso_pair_t){0, ranks - 1};
        pair_count = 1;
    }
    iso_sampler_resolve(ranks);
}

static double memory(int ranks)
{
    (void)ranks;
    return iso_transfer_memory(iso_sizes_largest(&options.sizes));
}

/* --- what the sweep asks ------------------------------------------------- */

struct state {
    const iso_context_t *ctx;
    iso_transfer_t transfer;
    double shared_cpu; /**< as the last task found */
};

static bool takes_part(void *self, int subject, int rank)
{
    (void)self;
    return rank == pairs[subject].i || rank == pairs[subject].j;
}

static bool reports(void *self, int subject, int rank)
{
    (void)self;
    return rank == pairs[subject].i;
}

/** Untimed operations of a pass: the first ones find the caches and the
 *  processors as the sleep before it has left them. A long message takes longer
 *  than that costs. */
static long untimed(long long bytes)
{
    return bytes <= LONG_MESSAGE ? 2 : 0;
}

static void perform(void *self, const iso_task_t *task, double *seconds)
{
    struct state *state = self;
    iso_transfer_t *transfer = &state->transfer;
    iso_pair_t pair = pairs[task->subject];
    bool leads = state->ctx->rank == pair.i;
    iso_transfer_set(transfer, leads ? pair.j : pair.i, task->bytes);
    iso_transfer_meet(transfer, leads);
    for (long k = 0; k < untimed(task->bytes); k++) {
        if (leads) {
            iso_transfer_lead(transfer, 1, 1, seconds);
        } else {
            iso_transfer_answer(transfer, 1);
        }
    }
    if (leads) {
        iso_transfer_lead(transfer, task->samples, task->batch, seconds);
    } else {
        iso_transfer_answer(transfer, (task->samples * task->batch));
    }
}

static void record(void *self, const iso_task_t *task, const double *times,
                   int reporters, long sample)
{
    struct state *state = self;
    (void)times;
    (void)reporters;
    (void)sample;
    ISO_MEMBERS(state->ctx->record, ("i", pairs[task->subject].i),
                ("j", pairs[task->subject].j));
}

static iso_outcome_t run(iso_context_t *ctx)
{
    struct state state = {.ctx = ctx};
    bool involved = false;
    for (int k = 0; k < pair_count; k++) {
        involved = involved || takes_part(&state, k, ctx->rank);
    }
    iso_transfer_init(&state.transfer, ctx,
                      involved ? iso_sizes_largest(&options.sizes) : 0);
    int right =
        iso_transfer_verify(&state.transfer, &options.sizes, pairs, pair_count);
    ctx->failed = right < pair_count;
    pair_count = right;
    iso_sweep_t sweep = {
        .ctx = ctx,
        .self = &state,
        .subjects = pair_count,
        .sizes = &options.sizes,
        .quantum = iso_transfer_quantum(),
        .takes_part = takes_part,
        .reports = reports,
        .perform = perform,
        .record = record,
    };
    iso_outcome_t outcome = iso_sweep_run(&sweep);
    iso_transfer_free(&state.transfer);
    return outcome;
}

static const char *const by[] = {"i", "j", NULL};

const iso_experiment_t iso_experiment_point_to_point = {
    .name = "point-to-point",
    .summary = "times of messages of many sizes between pairs of ranks",
    .kind = "sweep",
    .by = by,
    .options = all_options,
    .min_ranks = 2,
    .check = check,
    .check_ranks = check_ranks,
    .check_node = iso_transfer_check_node,
    .resolve = resolve,
    .memory = memory,
    .quantity = iso_transfer_quantity,
    .run = run,
};
