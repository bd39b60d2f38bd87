/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file operations.h
 * The collective operations that can be timed, each one MPI call.
 *
 * The size of an operation is the block that one rank contributes or receives,
 * as in the MPI call: gather at p ranks of b bytes collects p * b at the root.
 * Operations that reduce add doubles.
 */
#pragma once

#include "messages/message.h"

struct iso_grid; /* grid/shape.h */

/** One call: with which buffers and root. */
typedef struct iso_call {
    MPI_Comm comm;
    int root;
    const void *send;
    void *receive;
    int count; /**< of each block */
    MPI_Datatype type;
    /** Of a realisation in two phases (grid/collectives.h); the library's own
     *  has none. */
    const struct iso_grid *grid;
    /** Of a form that is not blocking (messages/forms.h): begins it, on the
     *  request of its root. */
    void (*begin)(const struct iso_call *call);
    MPI_Request *requests;       /**< by root */
    struct iso_overlap *overlap; /**< experiments/collective/overlap.h */
} iso_call_t;

#define ISO_CALL_BLOCKS                                                        \
    c->send, c->count, c->type, c->receive, c->count, c->type
#define ISO_CALL_REDUCED c->send, c->receive, c->count, c->type, MPI_SUM

/** X(name, name in MPI, arguments before the communicator) for the operations
 *  that also exist on grids; c is the iso_call_t. */
#define ISO_CALLS(X)                                                           \
    X(bcast, Bcast, c->receive, c->count, c->type, c->root)                    \
    X(reduce, Reduce, ISO_CALL_REDUCED, c->root)                               \
    X(allreduce, Allreduce, ISO_CALL_REDUCED)                                  \
    X(gather, Gather, ISO_CALL_BLOCKS, c->root)                                \
    X(scatter, Scatter, ISO_CALL_BLOCKS, c->root)                              \
    X(allgather, Allgather, ISO_CALL_BLOCKS)                                   \
    X(alltoall, Alltoall, ISO_CALL_BLOCKS)                                     \
    X(reduce_scatter_block, Reduce_scatter_block, ISO_CALL_REDUCED)

typedef struct iso_operation {
    const char *name;     /**< as the user types it */
    bool empty;           /**< has no size */
    bool reduces;         /**< adds doubles */
    bool sends_all;       /**< the send buffer holds a block for every rank */
    bool receives_all;    /**< the receive buffer holds a block of every rank */
    bool root_receives;   /**< and nobody else */
    bool in_one_buffer;   /**< the root sends from its receive buffer */
    bool of_those_before; /**< a rank receives the sum up to its own part */
    void (*call)(const iso_call_t *call);
} iso_operation_t;

/** All operations; the name NULL ends them. */
extern const iso_operation_t iso_operations[];

/** Find an operation by the first @a length characters of @a name, or NULL. */
const iso_operation_t *iso_operation_find(const char *name, size_t length);

/** Bytes of both buffers at a rank, for blocks of @a bytes and @a ranks. */
double iso_operation_memory(const iso_operation_t *operation, double bytes,
                            int ranks);
