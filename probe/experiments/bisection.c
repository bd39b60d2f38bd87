/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file bisection.c
 * Messages between all pairs across a cut of the ranks, all pairs at once: the
 * groups of point-to-point --pairs-at-once (pair_groups.h), of which the
 * largest is the default. With an odd number of ranks one has no partner: it
 * sleeps and is not counted in the rate.
 */
#include "sampling/pair_groups.h"

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

static const iso_option_t *const all_options[] = {own_options,
                                                  ISO_PAIR_GROUPS_TABLES};

static int check(char *error)
{
    return iso_pair_groups_check(&options.sizes, error);
}

static void resolve(int ranks)
{
    iso_pair_groups_resolve(false, ranks);
}

static iso_outcome_t run(iso_context_t *ctx)
{
    return iso_pair_groups_run(ctx, NULL, 0);
}

const iso_experiment_t iso_experiment_bisection = {
    .name = "bisection",
    .summary = "messages between all pairs across a bisection at once",
    .check_ranks = iso_pair_groups_check_ranks,
    ISO_PAIR_GROUPS,
};
