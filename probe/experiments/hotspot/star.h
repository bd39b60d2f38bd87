/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file star.h
 * Hot processes and their partners: who exchanges what with whom.
 *
 * The hot processes are on one node, the one with most ranks. Each is the
 * middle of a star, a sub-group of its own: its partners inside the node are
 * other ranks of that node, its partners between nodes are ranks elsewhere,
 * dealt out so that they lie on as many nodes as there are. No rank is in two
 * stars. A point says how many partners a hot process has at a time:
 *
 *     intra  partners inside the node; each sends to it and receives from it
 *     in     partners on other nodes that send to it
 *     out    partners on other nodes that receive from it
 *
 * As in cFireworks (K. Cha, Algorithm 1): every receive is posted before the
 * first send, and both in the order intra-node partners first, or last.
 *
 * At some points all nodes are busy instead (ring.h): then the hot process and
 * one process of every other node have so many messages from other nodes and
 * to them.
 */
#pragma once

#include "experiment.h"

/** One point of the grid that is measured. All ints: it travels as such. */
typedef struct {
    int intra, in, out; /**< partners of each hot process */
    int inter_first;    /**< post between nodes first */
    int bytes;          /**< of every message */
    int ring;           /**< all nodes are busy, not only the hot one */
} iso_star_point_t;

enum { ISO_STAR_POINT_INTS = sizeof(iso_star_point_t) / sizeof(int) };

/** What a rank is in the stars. */
typedef enum iso_role {
    ISO_ROLE_NONE,
    ISO_ROLE_HOT,
    ISO_ROLE_INTRA,
    ISO_ROLE_INTER,
} iso_role_t;

typedef struct {
    const iso_context_t *ctx;
    int hot;         /**< hot processes; 0 if the node has too few ranks */
    int hot_node;    /**< index of their node */
    int other_nodes; /**< nodes that are not theirs */
    int reach_intra, reach_inter; /**< most partners of a hot process */
    int *inside;      /**< ranks of the hot node; the first are the hot ones */
    int *outside;     /**< other ranks, one of each node in turn: the first
                           of all other nodes come first */
    int reach_ring;   /**< most messages one way where all nodes are busy; 0:
                           there are no such points */
    iso_role_t role;  /**< of this rank */
    int group, index; /**< its star, and which of its partners it is */
    char *out_buffer, *in_buffer;
    int *team; /**< room for all who take part in a point */
    MPI_Request *requests;
    MPI_Status *statuses; /**< MPICH 4.0's MPI_STATUSES_IGNORE makes GCC warn */
} iso_star_t;

/**
 * Deal out the roles. Collective; every rank knows them all afterwards.
 *
 * @param hot         hot processes
 * @param max_intra  no hot process gets more partners than these
 * @param rings       whether there may be points at which all nodes are busy
 * @param bytes       of the largest message
 */
void iso_star_init(iso_star_t *star, const iso_context_t *ctx, int hot,
                   int max_intra, int max_inter, bool rings, int bytes);
void iso_star_free(iso_star_t *star);

/**
 * List the ranks that take part in a point, all stars together.
 *
 * @return how many; they are in star->team
 */
int iso_star_team(iso_star_t *star, const iso_star_point_t *point);

/** What a rank is, and in which star. */
iso_role_t iso_star_role(const iso_star_t *star, int rank, int *group,
                         int *index);

/**
 * How busy nodes are at a point: the mean over all nodes of the messages in
 * their busier direction, as a part of those of the hot node; 0 without any.
 */
double iso_star_busy(const iso_star_t *star, const iso_star_point_t *point);

/**
 * Measure a point. Called by all who take part.
 *
 * @param samples  times to take; a barrier of those who take part precedes each
 * @param batch    exchanges that make up one sample
 * @param seconds  elapsed time of this rank for each sample
 */
void iso_star_measure(iso_star_t *star, const iso_star_point_t *point,
                      int samples, int batch, double *seconds);
