/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file operations.h
 * The collective operations that can be timed, each one MPI call.
 *
 * The size of an operation is the block that one rank contributes or receives,
 * as in the MPI call: gather at p ranks of b bytes collects p * b at the root.
 * Where blocks vary, it is their mean.
 */
#pragma once

#include "messages/message.h"
#include "messages/operation_table.h"

struct iso_grid; /* grid/shape.h */

/** The blocks that a rank sends, or those that it receives: counts and places
 *  for the call, and the rank at the other end of each. */
typedef struct iso_blocks {
    int number;
    int *peers;
    int *counts;       /**< elements */
    int *at;           /**< elements before the block; bytes if in_bytes */
    MPI_Aint *offsets; /**< bytes before the block */
    MPI_Datatype *types;
    bool mirrored; /**< block k has the place k ^ 1 at the other end */
} iso_blocks_t;

/** One call: with which buffers and root. */
typedef struct iso_call {
    MPI_Comm comm;
    int root;
    const void *send; /**< may be MPI_IN_PLACE where there is no root */
    void *receive;
    int count; /**< of each block; of the rank's own where blocks vary */
    MPI_Datatype type;
    MPI_Op reduction;
    /** Where blocks vary or are those of neighbours; else NULL. */
    const iso_blocks_t *sent, *received;
    /** The calling rank, which as a root works in place; else negative. */
    int in_place;
    /** Of a realisation in two phases (grid/collectives.h); the library's own
     *  has none. */
    const struct iso_grid *grid;
    /** Of a form that is not blocking (messages/forms.h): begins it, on the
     *  request of its root. */
    void (*begin)(const struct iso_call *call);
    MPI_Request *requests; /**< by root; or of each message */
    const struct iso_operation *operation;
    /** Of a one-sided form: where it puts to or gets from, and bytes of memory
     *  of a block. */
    MPI_Win *window;
    MPI_Aint block;
    struct iso_overlap *overlap; /**< experiments/collective/overlap.h */
} iso_call_t;

#define ISO_BLOCK           c->count, c->type
#define ISO_BLOCKS_OF(way)  c->way->counts, c->way->at
#define ISO_REDUCED(from)   from, c->receive, c->count, c->type, c->reduction
#define ISO_AT_ROOT(buffer) (c->root == c->in_place ? MPI_IN_PLACE : (buffer))

/** X(name, name in MPI, arguments before the communicator) for the operations
 *  that move data; c is the iso_call_t. */
#define ISO_CALLS(X)      ISO_MOVING_OPERATIONS(ISO_CALL_OF, X)
#define ISO_GRID_CALLS(X) ISO_GRID_OPERATIONS(ISO_CALL_OF, X)
#define ISO_CALL_OF(X, name, Name, like, traits, ...) X(name, Name, __VA_ARGS__)

typedef struct iso_operation {
    const char *name;     /**< as the user types it */
    const char *like;     /**< what stands for it where blocks are equal */
    bool empty;           /**< has no size */
    bool rooted;          /**< has a root */
    bool reduces;         /**< combines elements */
    bool sends_all;       /**< the send buffer holds a block for every rank */
    bool receives_all;    /**< the receive buffer holds a block of every rank */
    bool root_receives;   /**< and nobody else */
    bool in_one_buffer;   /**< the root sends from its receive buffer */
    bool of_those_before; /**< a rank receives what ranks up to it reduce to */
    bool without_own;     /**< and its own is not among them */
    bool varying;         /**< each block has its own count */
    bool in_bytes;        /**< places of blocks are counted in bytes */
    bool neighbors;       /**< of a topology, where others have every rank */
    bool by_messages;     /**< a message for each block, not one call of MPI */
    void (*call)(const iso_call_t *call);
} iso_operation_t;

/** All operations; the name NULL ends them. */
extern const iso_operation_t iso_operations[];

/** Find an operation by the first @a length characters of @a name, or NULL. */
const iso_operation_t *iso_operation_find(const char *name, size_t length);
