/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file tree.h
 * The ranks as a tree that follows the machine: few messages cross nodes, and
 * no rank has many to serve.
 *
 * The lowest rank of a node is its leader. Leaders form a binomial tree from
 * rank 0. The other ranks of a node hang on its leader, eight at most; if there
 * are more, on these, eight on each, and so on.
 */
#pragma once

#include "experiment.h"

typedef struct {
    int parent;      /**< of this rank; -1 at rank 0 */
    int *children;   /**< first those that have most children of their own */
    int child_count; /**< how many */
} iso_tree_t;

/** Find the place of this rank. Collective over ctx->control. */
iso_tree_t iso_tree_grow(const iso_context_t *ctx);
