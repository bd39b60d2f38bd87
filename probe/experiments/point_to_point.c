/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file point_to_point.c
 * Times messages of each size between two ranks, one pair after the other, or
 * groups of pairs at the same time (pair_groups.h). The timed loops are those
 * of transfer.h, sizes and repetitions those of sweep.h; ranks that are not in
 * a pair sleep.
 */
#include "messages/transfer.h"
#include "sampling/pair_groups.h"
#include "sampling/sampler.h"
#include "sampling/sweep.h"
#include "sampling/time_limit.h"

enum { MAX_PAIRS = 256 };

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

static const iso_option_t *const all_options[] = {
    own_options,          iso_pair_groups_options,
    iso_transfer_options, iso_memory_options,
    iso_sweep_options,    iso_time_limit_options,
    iso_sampler_options,  NULL};

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
    if (options.pairs && iso_pair_groups_asked()) {
        return ISO_REFUSE(error,
                          "--pairs and --pairs-at-once exclude each other");
    }
    if (parse_pairs(error) || iso_pair_groups_check(error) ||
        iso_transfer_check(&options.sizes, error)) {
        return -1;
    }
    return iso_sweep_check(error);
}

static int check_ranks(int ranks, char *error)
{
    return iso_transfer_check_ranks(ranks, error) ||
           iso_pairs_check_ranks(options.pairs, ranks, error) ||
           iso_pair_groups_check_ranks(ranks, error);
}

static const char *by[4];

static void resolve(int ranks)
{
    iso_pair_groups_resolve(!iso_pair_groups_asked(), ranks, by);
    if (pair_count == 0) {
        pairs[0] = (iso_pair_t){0, ranks - 1};
        pair_count = 1;
    }
    iso_sampler_resolve(ranks);
}

static double memory(int ranks)
{
    return iso_pair_groups_memory(iso_sizes_largest(&options.sizes));
}

static iso_outcome_t run(iso_context_t *ctx)
{
    bool groups = iso_pair_groups_asked();
    return iso_pair_groups_run(ctx, &options.sizes, groups ? NULL : pairs,
                               pair_count);
}

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
    .threads = iso_pair_groups_threads,
    .memory = memory,
    .quantity = iso_transfer_quantity,
    .run = run,
};
