/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file event.h
 * One call of MPI as it is kept: what it did, with whom, and how many bytes.
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

/** All operations: name in C, name in the run file, effect. */
#define ISO_OPS(X)                                                             \
    X(SEND, "send", SENDS)                                                     \
    X(BSEND, "bsend", SENDS)                                                   \
    X(SSEND, "ssend", SENDS)                                                   \
    X(RSEND, "rsend", SENDS)                                                   \
    X(ISEND, "isend", SENDS)                                                   \
    X(IBSEND, "ibsend", SENDS)                                                 \
    X(ISSEND, "issend", SENDS)                                                 \
    X(IRSEND, "irsend", SENDS)                                                 \
    X(RECV, "recv", RECEIVES)                                                  \
    X(IRECV, "irecv", RECEIVES)                                                \
    X(SENDRECV, "sendrecv", BOTH)                                              \
    X(ISENDRECV, "isendrecv", BOTH)                                            \
    X(WAIT, "wait", COMPLETES)                                                 \
    X(WAITALL, "waitall", COMPLETES)                                           \
    X(WAITANY, "waitany", COMPLETES)                                           \
    X(WAITSOME, "waitsome", COMPLETES)                                         \
    X(TEST, "test", COMPLETES)                                                 \
    X(TESTALL, "testall", COMPLETES)                                           \
    X(TESTANY, "testany", COMPLETES)                                           \
    X(TESTSOME, "testsome", COMPLETES)                                         \
    X(BARRIER, "barrier", COLLECTIVE)                                          \
    X(BCAST, "bcast", COLLECTIVE)                                              \
    X(GATHER, "gather", COLLECTIVE)                                            \
    X(GATHERV, "gatherv", COLLECTIVE)                                          \
    X(SCATTER, "scatter", COLLECTIVE)                                          \
    X(SCATTERV, "scatterv", COLLECTIVE)                                        \
    X(REDUCE, "reduce", COLLECTIVE)                                            \
    X(ALLREDUCE, "allreduce", COLLECTIVE)                                      \
    X(ALLGATHER, "allgather", COLLECTIVE)                                      \
    X(ALLGATHERV, "allgatherv", COLLECTIVE)                                    \
    X(ALLTOALL, "alltoall", COLLECTIVE)                                        \
    X(ALLTOALLV, "alltoallv", COLLECTIVE)                                      \
    X(ALLTOALLW, "alltoallw", COLLECTIVE)                                      \
    X(REDUCE_SCATTER, "reduce_scatter", COLLECTIVE)                            \
    X(REDUCE_SCATTER_BLOCK, "reduce_scatter_block", COLLECTIVE)                \
    X(SCAN, "scan", COLLECTIVE)                                                \
    X(EXSCAN, "exscan", COLLECTIVE)                                            \
    X(NEIGHBOR_ALLGATHER, "neighbor_allgather", COLLECTIVE)                    \
    X(NEIGHBOR_ALLGATHERV, "neighbor_allgatherv", COLLECTIVE)                  \
    X(NEIGHBOR_ALLTOALL, "neighbor_alltoall", COLLECTIVE)                      \
    X(NEIGHBOR_ALLTOALLV, "neighbor_alltoallv", COLLECTIVE)                    \
    X(NEIGHBOR_ALLTOALLW, "neighbor_alltoallw", COLLECTIVE)                    \
    X(IBARRIER, "ibarrier", COLLECTIVE)                                        \
    X(IBCAST, "ibcast", COLLECTIVE)                                            \
    X(IGATHER, "igather", COLLECTIVE)                                          \
    X(IGATHERV, "igatherv", COLLECTIVE)                                        \
    X(ISCATTER, "iscatter", COLLECTIVE)                                        \
    X(ISCATTERV, "iscatterv", COLLECTIVE)                                      \
    X(IREDUCE, "ireduce", COLLECTIVE)                                          \
    X(IALLREDUCE, "iallreduce", COLLECTIVE)                                    \
    X(IALLGATHER, "iallgather", COLLECTIVE)                                    \
    X(IALLGATHERV, "iallgatherv", COLLECTIVE)                                  \
    X(IALLTOALL, "ialltoall", COLLECTIVE)                                      \
    X(IALLTOALLV, "ialltoallv", COLLECTIVE)                                    \
    X(IALLTOALLW, "ialltoallw", COLLECTIVE)                                    \
    X(IREDUCE_SCATTER, "ireduce_scatter", COLLECTIVE)                          \
    X(IREDUCE_SCATTER_BLOCK, "ireduce_scatter_block", COLLECTIVE)              \
    X(ISCAN, "iscan", COLLECTIVE)                                              \
    X(IEXSCAN, "iexscan", COLLECTIVE)                                          \
    X(INEIGHBOR_ALLGATHER, "ineighbor_allgather", COLLECTIVE)                  \
    X(INEIGHBOR_ALLGATHERV, "ineighbor_allgatherv", COLLECTIVE)                \
    X(INEIGHBOR_ALLTOALL, "ineighbor_alltoall", COLLECTIVE)                    \
    X(INEIGHBOR_ALLTOALLV, "ineighbor_alltoallv", COLLECTIVE)                  \
    X(INEIGHBOR_ALLTOALLW, "ineighbor_alltoallw", COLLECTIVE)                  \
    X(PROBE, "probe", ASIDE)                                                   \
    X(COMMUNICATOR, "communicator", ASIDE)                                     \
    X(PUT, "put", ASIDE)                                                       \
    X(GET, "get", ASIDE)                                                       \
    X(ACCUMULATE, "accumulate", ASIDE)                                         \
    X(WINDOW, "window", ASIDE)                                                 \
    X(FILE, "file", ASIDE)

typedef enum iso_op {
#define X(name, word, effect) ISO_OP_##name,
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
    int64_t received; /**< with ISO_BOTH: bytes asked for from `source` */
    int32_t op;       /**< iso_op_t */
    int32_t peer;     /**< rank in the world, or ISO_NONE */
    int32_t source;   /**< with ISO_BOTH, else ISO_NONE */
    int32_t root;     /**< rank in the world of a rooted collective */
    int32_t group; /**< of a collective: number of the communicator's group */
    int32_t requests; /**< completed */
    int32_t open;     /**< completions: whether others remain open */
    int32_t any;      /**< ISO_ANY_SOURCE: a receive from whoever sent first */
} iso_event_t;

/** An event of an operation, with nobody and of nothing. */
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
