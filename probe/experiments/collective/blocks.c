/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/collective/blocks.h"

#include "base/check.h"
#include "base/random.h"

#include <math.h>

/** Fill in the share of all data in the blocks before each. */
static void share(const iso_block_rules_t *rules, int ranks, double *before)
{
    uint64_t state = (uint64_t)rules->seed;
    for (int r = 0; r < ranks; r++) {
        double size = strcmp(rules->counts, "linear") == 0      ? 2 * r + 1
                      : strcmp(rules->counts, "one-large") == 0 ? r ? 1 : ranks
                      : strcmp(rules->counts, "random") == 0
                          ? iso_random_uniform(&state)
                          : 1;
        before[r + 1] = before[r] + size;
    }
    for (int r = 1; r <= ranks; r++) {
        before[r] /= before[ranks];
    }
}

/** The largest block over the mean. */
static double largest_of(const iso_block_rules_t *rules, int ranks)
{
    double *before = ISO_NEW(double, ranks + 1), largest = 0;
    share(rules, ranks, before);
    for (int r = 0; r < ranks; r++) {
        largest = fmax(largest, ranks * (before[r + 1] - before[r]));
    }
    free(before);
    return largest;
}

double iso_blocks_room(const iso_block_rules_t *rules, const iso_operation_t *o,
                       bool received, int ranks)
{
    bool all = received ? o->receives_all : o->sends_all;
    if (all && !o->neighbors) {
        return ranks; /* whose blocks have the mean size together */
    }
    return (double)(all ? rules->neighbors : 1) *
           (o->varying ? largest_of(rules, ranks) : 1);
}

/* --- neighbours ---------------------------------------------------------- */

static void create_grid(iso_block_layout_t *layout, MPI_Comm comm)
{
    int sides[ISO_MAX_NEIGHBORS] = {0}, periodic[ISO_MAX_NEIGHBORS];
    int dimensions = layout->degree / 2;
    for (int d = 0; d < dimensions; d++) {
        periodic[d] = 1;
    }
    MPI_CHECK(MPI_Dims_create(layout->ranks, dimensions, sides));
    MPI_CHECK(MPI_Cart_create(comm, dimensions, sides, periodic, 0,
                              &layout->neighbors));
    for (int d = 0; d < dimensions; d++) {
        int *pair = layout->sources + 2 * d;
        MPI_CHECK(MPI_Cart_shift(layout->neighbors, d, 1, &pair[0], &pair[1]));
    }
    memcpy(layout->targets, layout->sources, sizeof(layout->targets));
}

static void create_graph(iso_block_layout_t *layout, uint64_t state,
                         MPI_Comm comm)
{
    int ranks = layout->ranks, degree = layout->degree;
    int weights[ISO_MAX_NEIGHBORS]; /* gcc misreads UNWEIGHTED */
    int *order = ISO_NEW(int, ranks);
    for (int n = 0; n < degree; n++) {
        weights[n] = 1;
        iso_random_order(order, ranks, &state);
        for (int k = 0; k < ranks; k++) {
            if (order[k] == layout->rank) {
                layout->sources[n] = order[(k + ranks - 1) % ranks];
                layout->targets[n] = order[(k + 1) % ranks];
            }
        }
    }
    free(order);
    MPI_CHECK(MPI_Dist_graph_create_adjacent(
        comm, degree, layout->sources, weights, degree, layout->targets,
        weights, MPI_INFO_NULL, 0, &layout->neighbors));
}

void iso_block_layout_create(iso_block_layout_t *layout,
                             const iso_block_rules_t *rules, bool topology,
                             MPI_Comm comm)
{
    layout->neighbors = MPI_COMM_NULL;
    layout->degree = (int)rules->neighbors;
    layout->mirrored = strcmp(rules->topology, "graph") != 0;
    MPI_CHECK(MPI_Comm_rank(comm, &layout->rank));
    MPI_CHECK(MPI_Comm_size(comm, &layout->ranks));
    layout->before = ISO_NEW(double, layout->ranks + 1);
    share(rules, layout->ranks, layout->before);
    if (topology && !layout->mirrored) {
        create_graph(layout, (uint64_t)rules->seed, comm);
    } else if (topology) {
        create_grid(layout, comm);
    }
}

void iso_block_layout_free(iso_block_layout_t *layout)
{
    if (layout->neighbors != MPI_COMM_NULL) {
        MPI_CHECK(MPI_Comm_free(&layout->neighbors));
    }
    free(layout->before);
}

/* --- the blocks of a call ------------------------------------------------ */

/** Elements of the block that a rank sends to another. */
static int block(const iso_block_layout_t *layout, const iso_operation_t *o,
                 int from, int to, int mean)
{
    int number = from;
    double all = (double)mean * layout->ranks;
    if (!o->varying) {
        return mean;
    }
    if (o->sends_all && !o->neighbors) {
        number = o->receives_all ? (from + to) % layout->ranks : to;
    }
    return (int)(round(layout->before[number + 1] * all) -
                 round(layout->before[number] * all));
}

static iso_blocks_t one_way(const iso_block_layout_t *layout,
                            const iso_operation_t *operation,
                            const iso_call_t *call, bool received)
{
    bool all = received ? operation->receives_all : operation->sends_all;
    iso_blocks_t blocks = {.number = !all                   ? 1
                                     : operation->neighbors ? layout->degree
                                                            : layout->ranks};
    int number = blocks.number, before = 0, rank = layout->rank;
    MPI_Aint lower, extent;
    MPI_CHECK(MPI_Type_get_extent(call->type, &lower, &extent));
    blocks.peers = ISO_NEW(int, number);
    blocks.counts = ISO_NEW(int, number);
    blocks.at = ISO_NEW(int, number);
    blocks.offsets = ISO_NEW(MPI_Aint, number);
    blocks.types = ISO_NEW(MPI_Datatype, number);
    blocks.mirrored = layout->mirrored;
    for (int k = 0; k < number; k++) {
        int peer = !all                    ? rank
                   : !operation->neighbors ? k
                   : received              ? layout->sources[k]
                                           : layout->targets[k];
        blocks.peers[k] = peer;
        blocks.counts[k] =
            received ? block(layout, operation, peer, rank, call->count)
                     : block(layout, operation, rank, peer, call->count);
        blocks.at[k] = before * (operation->in_bytes ? (int)extent : 1);
        blocks.offsets[k] = before * extent;
        blocks.types[k] = call->type;
        before += blocks.counts[k];
    }
    return blocks;
}

static void free_way(iso_blocks_t *blocks)
{
    free(blocks->peers);
    free(blocks->counts);
    free(blocks->at);
    free(blocks->offsets);
    free(blocks->types);
}

void iso_blocks_free(iso_call_blocks_t *blocks)
{
    free_way(&blocks->sent);
    free_way(&blocks->received);
    *blocks = (iso_call_blocks_t){0};
}

void iso_blocks_set(iso_call_blocks_t *blocks, const iso_block_layout_t *layout,
                    const iso_operation_t *operation, iso_call_t *call)
{
    if (!operation->varying && !operation->neighbors) {
        return;
    }
    if (operation != blocks->operation || call->count != blocks->mean) {
        iso_blocks_free(blocks);
        blocks->operation = operation;
        blocks->mean = call->count;
        blocks->sent = one_way(layout, operation, call, false);
        blocks->received = one_way(layout, operation, call, true);
    }
    call->sent = &blocks->sent;
    call->received = &blocks->received;
    if (operation->neighbors) {
        call->comm = layout->neighbors;
    }
    if (operation->receives_all != operation->sends_all) {
        call->count = operation->receives_all ? blocks->sent.counts[0]
                                              : blocks->received.counts[0];
    }
}
