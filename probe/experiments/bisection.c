/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file bisection.c
 * Messages between all pairs across a cut of the ranks, all pairs at once: the
 * groups of point-to-point --pairs-at-once (pair_groups.h), of which the
 * largest is the default. With an odd number of ranks one has no partner: it
 * sleeps and is not counted in the rate.
 */
#include "messages/transfer.h"
#include "sampling/pair_groups.h"
#include "sampling/sampler.h"
#include "sampling/sweep.h"
#include "sampling/time_limit.h"

static struct {
    iso_sizes_t sizes;
} options;

static const iso_option_t own_options[] = {
    {"bytes", ISO_OPTION_SWEEP, "SIZES", "0,1:1MiB:x4",
     "bytes per message: 64,1KiB (list), 0:1KiB:32 (step), 1:1MiB:x4 (factor), "
     "or auto (more where the curve bends)",
     &options.sizes},
    {0},
};

static const iso_option_t *const all_options[] = {
    own_options,          iso_pair_groups_options,
    iso_transfer_options, iso_memory_options,
    iso_sweep_options,    iso_time_limit_options,
    iso_sampler_options,  NULL};

static int check(char *error)
{
    if (iso_pair_groups_check(error) ||
        iso_transfer_check(&options.sizes, error)) {
        return -1;
    }
    return iso_sweep_check(error);
}

static double memory(int ranks)
{
    return iso_pair_groups_memory(iso_sizes_largest(&options.sizes));
}

static int check_ranks(int ranks, char *error)
{
    return iso_transfer_check_ranks(ranks, error) ||
           iso_pair_groups_check_ranks(ranks, error);
}

static const char *by[4];

static void resolve(int ranks)
{
    iso_pair_groups_resolve(false, ranks, by);
    iso_sampler_resolve(ranks);
}

static iso_outcome_t run(iso_context_t *ctx)
{
    return iso_pair_groups_run(ctx, &options.sizes, NULL, 0);
}

const iso_experiment_t iso_experiment_bisection = {
    .name = "bisection",
    .summary = "messages between all pairs across a bisection at once",
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
