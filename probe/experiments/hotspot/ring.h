/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file ring.h
 * All nodes busy at once: who exchanges with whom.
 *
 * One process of each node takes part; they stand in a ring. With in = out = k
 * each sends to the next k and receives from the k before it, so that every
 * node has as much to do as the hot one. Where the two differ, nodes take
 * turns: a node that sends more stands between nodes that receive more. Of an
 * odd number of nodes the last has the smaller number both ways.
 */
#ifndef ISO_RING_H
#define ISO_RING_H

/** Messages of one process of the ring: places of others in it. */
typedef struct iso_ring_plan {
    int receives, sends;
    int *from, *to; /**< room for the larger of in and out each */
} iso_ring_plan_t;

/**
 * List whom a process receives from and sends to.
 *
 * @param nodes    processes in the ring, one of each node
 * @param in, out  messages of the process at place 0; both below @a nodes
 * @param place    of the process that asks
 * @param plan     lists to fill
 */
void iso_ring_plan(int nodes, int in, int out, int place,
                   iso_ring_plan_t *plan);

/** Mean of the nodes' busier directions, as a part of that of place 0. */
double iso_ring_busy(int nodes, int in, int out);

#endif
