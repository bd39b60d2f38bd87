/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file pair_groups.h
 * Sweeps over messages between pairs of ranks: one pair, or a group of pairs at
 * the same time, each with one or several threads a rank.
 *
 * The pairs of N ranks (--pairing), of which a group of P has the first P:
 *
 *     halves      i and i + N/2: half of the ranks against the other half
 *     neighbours  0-1, 2-3, 4-5 ... (as mpptest -bisect)
 *     random      the ranks in an order drawn with --seed, taken two by two
 *
 * Ranks outside the group sleep. The pairs of a group start together after a
 * barrier; then each continues independently for the samples of a pass, with
 * the timed loops of transfer.h, after operations that are not timed.
 *
 * With --threads T, thread k of a rank exchanges messages with thread k of the
 * partner, all at the same time: with tags of its own on a communicator that
 * all share, or on a communicator of its own (--thread-comms). Every pair of
 * threads is timed by itself.
 */
#pragma once

#include "base/pairs.h"
#include "messages/transfer.h"
#include "sampling/sampler.h"
#include "sampling/sweep.h"
#include "sampling/time_limit.h"

/** pairs-at-once, pairing, seed, threads, thread-comms. */
extern const iso_option_t iso_pair_groups_options[];

/** Members of samples that identify a curve. */
extern const char *iso_pair_groups_by[4];

/** What the experiments have in common: tables of options, and callbacks. */
#define ISO_PAIR_GROUPS_TABLES                                                 \
    iso_pair_groups_options, iso_transfer_options, iso_memory_options,         \
        iso_sweep_options, iso_time_limit_options, iso_sampler_options, NULL
#define ISO_PAIR_GROUPS                                                        \
    .kind = "sweep", .by = iso_pair_groups_by, .options = all_options,         \
    .min_ranks = 2, .check = check, .check_node = iso_transfer_check_node,     \
    .resolve = resolve, .threads = iso_pair_groups_threads,                    \
    .memory = iso_pair_groups_memory, .quantity = iso_transfer_quantity,       \
    .run = run

/** Whether the options ask for groups. */
bool iso_pair_groups_asked(void);

/** Threads of a rank, at most, that call MPI; 0 without --threads. */
int iso_pair_groups_threads(void);

/** Bytes of memory that a rank needs. */
double iso_pair_groups_memory(int ranks);

/**
 * Check the options.
 *
 * @param sizes  of the messages, from now on
 * @return 0, or -1 with an error text
 */
int iso_pair_groups_check(iso_sizes_t *sizes, char *error);

/** Check that so many ranks have as many pairs. @return as above */
int iso_pair_groups_check_ranks(int ranks, char *error);

/** Settle what the options leave open: without --pairs-at-once a group is all
 *  pairs. */
void iso_pair_groups_resolve(bool single_pairs, int ranks);

/**
 * Measure; called on all ranks.
 *
 * @param pairs  measured one after the other; NULL: groups as the options say
 * @param count  of pairs
 */
iso_outcome_t iso_pair_groups_run(iso_context_t *ctx, const iso_pair_t *pairs,
                                  int count);
