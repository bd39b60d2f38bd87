/* SPDX-License-Identifier: BSD-3-Clause */
#include "global_clock/tree.h"

#include "base/check.h"
#include "machine/own_collectives.h"

enum { MAX_CHILDREN = 8 };

/** A node while its ranks are hung up. */
struct node {
    int leader, last;   /* first and last rank so far; leader -1: none */
    int parent, served; /* the rank that takes the next ones; it has so many */
};

/**
 * Attach one more rank. Nodes are numbered in rank order, so the
 * leader of node k is leader number k, and its parent is k without its lowest
 * bit. Inside a node the ranks fill a tree level by level.
 *
 * @param next  by rank: the next rank of its node
 */
static int parent_of(int rank, int number, struct node *nodes, int *next)
{
    struct node *node = &nodes[number];
    if (node->leader < 0) {
        *node = (struct node){rank, rank, rank, 0};
        return number > 0 ? nodes[number & (number - 1)].leader : -1;
    }
    next[node->last] = rank;
    node->last = rank;
    if (node->served == MAX_CHILDREN) {
        node->parent = next[node->parent];
        node->served = 0;
    }
    node->served++;
    return node->parent;
}

/** Store the children, those with most children first. */
static void keep_children(iso_tree_t *tree, const iso_context_t *ctx,
                          const int *number, const int *parent)
{
    int rank = ctx->rank, size = ctx->size;
    tree->children = iso_calloc(size, sizeof(int));
    for (int r = size - 1; r > 0; r--) {
        if (parent[r] == rank && number[r] != number[rank]) {
            tree->children[tree->child_count++] = r;
        }
    }
    for (int r = 0; r < size; r++) {
        if (parent[r] == rank && number[r] == number[rank]) {
            tree->children[tree->child_count++] = r;
        }
    }
}

iso_tree_t iso_tree_grow(const iso_context_t *ctx)
{
    iso_tree_t tree = {0};
    size_t size = ctx->size;
    int *number = iso_calloc(size, sizeof(int)); /* of the node of a rank */
    int *next = iso_calloc(size, sizeof(int));
    int *parent = iso_calloc(size, sizeof(int));
    struct node *nodes = iso_calloc(size, sizeof(*nodes));
    iso_plain_allgather(ctx->control, &ctx->node, sizeof(int), number);
    for (int n = 0; n < ctx->size; n++) {
        nodes[n].leader = -1;
    }
    for (int r = 0; r < ctx->size; r++) {
        parent[r] = parent_of(r, number[r], nodes, next);
    }
    tree.parent = parent[ctx->rank];
    keep_children(&tree, ctx, number, parent);
    free(nodes);
    free(parent);
    free(next);
    free(number);
    return tree;
}
