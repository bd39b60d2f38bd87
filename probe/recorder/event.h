/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file event.h
 * A recorded MPI call: operation, partner and bytes.
 */
#pragma once

#include "messages/operation_table.h"

#include <stdbool.h>
#include <stdint.h>

/** What a call does to the communication of its rank. */
typedef enum {
    ISO_SENDS,      /**< a message to `peer` */
    ISO_RECEIVES,   /**< a message from `peer` */
    ISO_BOTH,       /**< to `peer` and from `source` */
    ISO_COMPLETES,  /**< requests */
    ISO_COLLECTIVE, /**< of a group */
    ISO_ASIDE,      /**< counted, but no part of the sequence */
} iso_effect_t;

/** Collective operations, blocking without a prefix or non-blocking with i. */
#define ISO_RECORDED(X, name, ...)       X(name, COLLECTIVE)
#define ISO_RECORDED_BEGUN(X, name, ...) X(i##name, COLLECTIVE)

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
    ISO_OPERATIONS(ISO_RECORDED, X)                                            \
    ISO_OPERATIONS(ISO_RECORDED_BEGUN, X)                                      \
    X(probe, ASIDE)                                                            \
    X(communicator, ASIDE)                                                     \
    X(put, ASIDE)                                                              \
    X(get, ASIDE)                                                              \
    X(accumulate, ASIDE)                                                       \
    X(window, ASIDE)                                                           \
    X(partitioned, ASIDE)                                                      \
    X(file, ASIDE)

typedef enum {
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
