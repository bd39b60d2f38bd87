/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file schedule.h
 * Who is measured with whom at the same time: every pair i < j exactly once,
 * in rounds of pairs that run at once. Knows nothing of MPI.
 *
 * serial  one pair a round, 0-1, 0-2, 0-3 ... 1-2 ...: the order of Table 1 of
 *         the process latency maps. N (N - 1) / 2 rounds.
 * rounds  a round-robin tournament of the ranks (circle method): every rank in
 *         at most one pair. N - 1 rounds for even N, N for odd N. Pairs share
 *         nodes and network ports, so they disturb each other.
 * isolated   no two pairs of a round share a node. First every node works
 * through its inner pairs, all nodes at once; then a tournament of the nodes,
 *         in which two nodes that meet work through the pairs between them one
 *         after the other. With M nodes of k ranks: k (k - 1) / 2 rounds within
 *         the nodes and (M - 1) k^2 between them (M k^2 for odd M), which grows
 *         as N k and not as N^2.
 */
#pragma once

#include "base/pairs.h"

typedef enum {
    ISO_SCHEDULE_SERIAL,
    ISO_SCHEDULE_ROUNDS,
    ISO_SCHEDULE_ISOLATED,
} iso_schedule_order_t;

/** The pair i < j of two ranks in either order. */
iso_pair_t iso_pair_of(int a, int b);

/** Pair number k of 0-1, 0-2 ... 1-2 ... among n players. */
void iso_serial_pair(int n, int k, int *a, int *b);

/**
 * List the ranks of each node.
 *
 * @param node_of_rank  node of each rank, numbered from 0
 * @param first         where the ranks of each node begin in @a members, and,
 *                      after the last node, where they end; freed by the caller
 * @param members       the ranks, ascending within a node; likewise
 * @return number of nodes
 */
int iso_group_by_node(int ranks, const int node_of_rank[], int **first,
                      int **members);

typedef struct iso_schedule iso_schedule_t;

/**
 * Make a schedule.
 *
 * @param ranks           number of ranks, at least 1
 * @param node_of_rank    node of each rank, numbered from 0 without gaps; only
 *                        the isolated order looks at it
 * @param inner_parallel  isolated only: inside a node let disjoint pairs run at
 *                        once, as a tournament
 * @return released by iso_schedule_free
 */
iso_schedule_t *iso_schedule_create(iso_schedule_order_t order, int ranks,
                                    const int node_of_rank[],
                                    int inner_parallel);

/**
 * Write the next round.
 *
 * @param pairs  room for ranks / 2 pairs
 * @return number of pairs, at least 1; 0 when every pair has been given
 */
int iso_schedule_next(iso_schedule_t *schedule, iso_pair_t *pairs);

/** Read "serial", "rounds" or "isolated". */
iso_schedule_order_t iso_schedule_order(const char *name);

void iso_schedule_free(iso_schedule_t *schedule);
