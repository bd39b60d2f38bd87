/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file sample.h
 * Which pairs of a large machine are measured, and in which round: some of all
 * pairs, chosen at random, so that every node meets about as many others. Every
 * rank computes it for itself, from the same seed. Knows nothing of MPI.
 *
 * No two pairs of a round share a node. Within nodes all pairs are measured,
 * or, where that would be a large part of the sample, all pairs of FULL_NODES
 * nodes and disjoint ones of all others. Between nodes a round is a matching of
 * the nodes. In the first rounds each meets those next to it by number, where
 * groups of nodes mostly end; then it is one of a tournament, with nodes and
 * rounds in random order. Two nodes that meet again do so with other ranks; no
 * pair is measured twice.
 */
#pragma once

#include "experiments/latency_map/schedule.h"

typedef struct iso_sample iso_sample_t;

/**
 * Read "5%", "200000" or "auto".
 *
 * @param nodes  number of nodes
 * @return pairs to be measured of @a ranks ranks; -1 if it is none of these
 */
long iso_sample_pairs(const char *text, int ranks, int nodes);

/**
 * Choose pairs.
 *
 * @param node_of_rank  numbered from 0 without gaps, in the order of names
 * @param pairs         about how many
 * @return released by iso_sample_free
 */
iso_sample_t *iso_sample_create(int ranks, const int node_of_rank[],
                                long pairs);

/** Number of rounds. */
long iso_sample_rounds(const iso_sample_t *sample);

/**
 * The pair of a node in a round.
 *
 * @return 0 if the node has none in this round
 */
int iso_sample_pair(const iso_sample_t *sample, long round, int node,
                    iso_pair_t *pair);

void iso_sample_free(iso_sample_t *sample);
