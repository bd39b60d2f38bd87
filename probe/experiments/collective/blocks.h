/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file blocks.h
 * The blocks of a call, where they vary or go to neighbours.
 *
 * Sizes. Of p blocks with the mean n, in elements, block r has
 *
 *     uniform    n
 *     linear     n (2r + 1) / p
 *     one-large  block 0 is p times as large as each of the others
 *     random     in proportion to independent uniform numbers, from --seed
 *
 * rounded so that all blocks together have p n elements. Operations whose
 * ranks send different blocks (scatterv, reduce_scatter) count blocks by
 * receiver, alltoallv and alltoallw by (sender + receiver) mod p, and the
 * others by sender.
 *
 * Neighbours. Of N, "cartesian" is the periodic grid of MPI_Dims_create in N/2
 * dimensions, "graph" the union of N cycles through all ranks in random order,
 * from --seed: each rank has N neighbours in either direction, some of them
 * more than once if there are few ranks.
 */
#pragma once

#include "messages/operations.h"

enum { ISO_MAX_NEIGHBORS = 16 };

/** Sizes and neighbours as the options have them. */
typedef struct {
    const char *counts, *topology;
    long seed, neighbors;
} iso_block_rules_t;

/** The same for a number of ranks. */
typedef struct {
    int rank, ranks;
    double *before;     /**< share of all data in the blocks before each */
    MPI_Comm neighbors; /**< the topology */
    int sources[ISO_MAX_NEIGHBORS], targets[ISO_MAX_NEIGHBORS];
    int degree;    /**< neighbours in each direction */
    bool mirrored; /**< neighbours 2d and 2d + 1 are the two of a dimension */
} iso_block_layout_t;

/** Blocks of the mean size for which a buffer of an operation needs room.
 *  @param received  the receive buffer, not the send buffer */
double iso_blocks_room(const iso_block_rules_t *rules,
                       const iso_operation_t *operation, bool received,
                       int ranks);

/** Collective over @a comm. @param topology  whether neighbours are needed */
void iso_block_layout_create(iso_block_layout_t *layout,
                             const iso_block_rules_t *rules, bool topology,
                             MPI_Comm comm);
void iso_block_layout_free(iso_block_layout_t *layout);

/** Blocks of a call in both directions, and their owner. */
typedef struct {
    const iso_operation_t *operation;
    int mean; /**< elements */
    iso_blocks_t sent, received;
} iso_call_blocks_t;

/**
 * Give a call its blocks, which have call->count elements of call->type on
 * average; its count becomes that of the rank's own block.
 *
 * @param blocks  keeps them, and those of the call before if they are the same
 */
void iso_blocks_set(iso_call_blocks_t *blocks, const iso_block_layout_t *layout,
                    const iso_operation_t *operation, iso_call_t *call);
void iso_blocks_free(iso_call_blocks_t *blocks);
