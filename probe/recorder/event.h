/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file event.h
 * A recorded MPI call: operation, partner and bytes.
 */
#ifndef ISO_EVENT_H
#define ISO_EVENT_H

#include <stdbool.h>
#include <stdint.h>

/** What a call does to the communication of its rank. */
typedef enum iso_effect {
    ISO_SENDS,      /**< a message to `peer` */
    ISO_RECEIVES,   /**< a message from `peer` */
    ISO_BOTH,       /**< to `peer` and from `source` */
    ISO_COMPLETES,  /**< requests */
    ISO_COLLECTIVE, /**< of a group */
    ISO_ASIDE,      /**< counted, but no part of the sequence */
} iso_effect_t;

/** All operations: name, in the run file, too, and effect. */
#define ISO_OPS(X)                                                             \
    X(send, SENDS)                                                             \
    X(bsend, SENDS)                                                            \
    X(ssend, SENDS)                                                            \
    X(rsend, SENDS)                                                            \
    X(isend, SENDS)                                                            \
    X(ibsend, SENDS)                                                           \
    X(issend, SENDS)                                                           \
    X(irsend, SENDS)                                                           \
    X(recv, RECEIVES)                                                          \
    X(irecv, RECEIVES)                                                         \
    X(sendrecv, BOTH)                                                          \
    X(isendrecv, BOTH)                                                         \
    X(wait, COMPLETES)                                                         \
    X(waitall, COMPLETES)                                                      \
    X(waitany, COMPLETES)                                                      \
    X(waitsome, COMPLETES)                                                     \
    X(test, COMPLETES)                                                         \
    X(testall, COMPLETES)                                                      \
    X(testany, COMPLETES)                                                      \
    X(testsome, COMPLETES)                                                     \
    X(barrier, COLLECTIVE)                                                     \
    X(bcast, COLLECTIVE)                                                       \
    X(gather, COLLECTIVE)                                                      \
    X(gatherv, COLLECTIVE)                                                     \
    X(scatter, COLLECTIVE)                                                     \
    X(scatterv, COLLECTIVE)                                                    \
    X(reduce, COLLECTIVE)                                                      \
    X(allreduce, COLLECTIVE)                                                   \
    X(allgather, COLLECTIVE)                                                   \
    X(allgatherv, COLLECTIVE)                                                  \
    X(alltoall, COLLECTIVE)                                                    \
    X(alltoallv, COLLECTIVE)                                                   \
    X(alltoallw, COLLECTIVE)                                                   \
    X(reduce_scatter, COLLECTIVE)                                              \
    X(reduce_scatter_block, COLLECTIVE)                                        \
    X(scan, COLLECTIVE)                                                        \
    X(exscan, COLLECTIVE)                                                      \
    X(neighbor_allgather, COLLECTIVE)                                          \
    X(neighbor_allgatherv, COLLECTIVE)                                         \
    X(neighbor_alltoall, COLLECTIVE)                                           \
    X(neighbor_alltoallv, COLLECTIVE)                                          \
    X(neighbor_alltoallw, COLLECTIVE)                                          \
    X(ibarrier, COLLECTIVE)                                                    \
    X(ibcast, COLLECTIVE)                                                      \
    X(igather, COLLECTIVE)                                                     \
    X(igatherv, COLLECTIVE)                                                    \
    X(iscatter, COLLECTIVE)                                                    \
    X(iscatterv, COLLECTIVE)                                                   \
    X(ireduce, COLLECTIVE)                                                     \
    X(iallreduce, COLLECTIVE)                                                  \
    X(iallgather, COLLECTIVE)                                                  \
    X(iallgatherv, COLLECTIVE)                                                 \
    X(ialltoall, COLLECTIVE)                                                   \
    X(ialltoallv, COLLECTIVE)                                                  \
    X(ialltoallw, COLLECTIVE)                                                  \
    X(ireduce_scatter, COLLECTIVE)                                             \
    X(ireduce_scatter_block, COLLECTIVE)                                       \
    X(iscan, COLLECTIVE)                                                       \
    X(iexscan, COLLECTIVE)                                                     \
    X(ineighbor_allgather, COLLECTIVE)                                         \
    X(ineighbor_allgatherv, COLLECTIVE)                                        \
    X(ineighbor_alltoall, COLLECTIVE)                                          \
    X(ineighbor_alltoallv, COLLECTIVE)                                         \
    X(ineighbor_alltoallw, COLLECTIVE)                                         \
    X(probe, ASIDE)                                                            \
    X(communicator, ASIDE)                                                     \
    X(put, ASIDE)                                                              \
    X(get, ASIDE)                                                              \
    X(accumulate, ASIDE)                                                       \
    X(window, ASIDE)                                                           \
    X(partitioned, ASIDE)                                                      \
    X(file, ASIDE)

typedef enum iso_op {
#define X(name, effect) ISO_OP_##name,
    ISO_OPS(X)
#undef X
        ISO_OP_COUNT
} iso_op_t;

/** Names in the run file, by operation. */
extern const char *const iso_op_names[ISO_OP_COUNT];

/** Effects, by operation. */
extern const iso_effect_t iso_op_effects[ISO_OP_COUNT];

enum {
    ISO_NONE = -1, /**< no rank: none, or any */
};

/** Whether the source of a receive was given. */
enum { ISO_NAMED = 0, ISO_ANY_SOURCE = 1 };

/** A call. Compared byte by byte, so there is nothing between the members. */
typedef struct iso_event {
    int64_t bytes;    /**< of the message, or of the block of a collective */
    int64_t received; /**< with ISO_BOTH: bytes requested from `source` */
    int32_t op;       /**< iso_op_t */
    int32_t peer;     /**< rank in the world, or ISO_NONE */
    int32_t source;   /**< with ISO_BOTH, else ISO_NONE */
    int32_t root;     /**< rank in the world of a rooted collective */
    int32_t group; /**< of a collective: number of the communicator's group */
    int32_t requests; /**< completed */
    int32_t open;     /**< completions: whether others remain open */
    int32_t any;      /**< ISO_ANY_SOURCE: a receive from whoever sent first */
} iso_event_t;

/** An event of an operation without partner and bytes. */
static inline iso_event_t iso_event(iso_op_t op)
{
    iso_event_t event = {0};
    event.op = op;
    event.peer = event.source = event.root = ISO_NONE;
    return event;
}

uint32_t iso_event_hash(const iso_event_t *event);
bool iso_event_equal(const iso_event_t *a, const iso_event_t *b);

#endif
