/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file operation_table.h
 * The collective operations of MPI, each declared once. The probe, the
 * recorder, and with `make operations` src/isochrone/base/operation_table.py
 * derive from these rows:
 *
 *     ROW(X, name, name in MPI, like, (traits), arguments before the
 *         communicator)
 *
 *     name    as the user types it and as it is recorded
 *     like    the operation that stands for this one where it was not measured
 *     traits  the members of iso_operation_t (operations.h) that are true
 *
 * In the arguments, c is the iso_call_t. X goes on to the macro that ROW
 * names, as ISO_CALLS in operations.h does.
 */
#pragma once

/** Those that also exist on grids of ranks. */
#define ISO_GRID_OPERATIONS(ROW, X)                                            \
    ROW(X, bcast, Bcast, bcast, (.rooted = 1, .in_one_buffer = 1), c->receive, \
        c->count, c->type, c->root)                                            \
    ROW(X, reduce, Reduce, reduce,                                             \
        (.rooted = 1, .reduces = 1, .root_receives = 1),                       \
        ISO_REDUCED(ISO_AT_ROOT(c->send)), c->root)                            \
    ROW(X, allreduce, Allreduce, allreduce, (.reduces = 1),                    \
        ISO_REDUCED(c->send))                                                  \
    ROW(X, gather, Gather, gather,                                             \
        (.rooted = 1, .receives_all = 1, .root_receives = 1),                  \
        ISO_AT_ROOT(c->send), ISO_BLOCK, c->receive, ISO_BLOCK, c->root)       \
    ROW(X, scatter, Scatter, scatter, (.rooted = 1, .sends_all = 1), c->send,  \
        ISO_BLOCK, ISO_AT_ROOT(c->receive), ISO_BLOCK, c->root)                \
    ROW(X, allgather, Allgather, allgather, (.receives_all = 1), c->send,      \
        ISO_BLOCK, c->receive, ISO_BLOCK)                                      \
    ROW(X, alltoall, Alltoall, alltoall, (.sends_all = 1, .receives_all = 1),  \
        c->send, ISO_BLOCK, c->receive, ISO_BLOCK)                             \
    ROW(X, reduce_scatter_block, Reduce_scatter_block, reduce_scatter_block,   \
        (.reduces = 1, .sends_all = 1), ISO_REDUCED(c->send))

/** Those that move data. */
#define ISO_MOVING_OPERATIONS(ROW, X)                                          \
    ISO_GRID_OPERATIONS(ROW, X)                                                \
    ROW(X, scan, Scan, scan, (.reduces = 1, .of_those_before = 1),             \
        ISO_REDUCED(c->send))                                                  \
    ROW(X, exscan, Exscan, scan,                                               \
        (.reduces = 1, .of_those_before = 1, .without_own = 1),                \
        ISO_REDUCED(c->send))                                                  \
    ROW(X, gatherv, Gatherv, gather,                                           \
        (.rooted = 1, .receives_all = 1, .root_receives = 1, .varying = 1),    \
        ISO_AT_ROOT(c->send), ISO_BLOCK, c->receive, ISO_BLOCKS_OF(received),  \
        c->type, c->root)                                                      \
    ROW(X, scatterv, Scatterv, scatter,                                        \
        (.rooted = 1, .sends_all = 1, .varying = 1), c->send,                  \
        ISO_BLOCKS_OF(sent), c->type, ISO_AT_ROOT(c->receive), ISO_BLOCK,      \
        c->root)                                                               \
    ROW(X, allgatherv, Allgatherv, allgather,                                  \
        (.receives_all = 1, .varying = 1), c->send, ISO_BLOCK, c->receive,     \
        ISO_BLOCKS_OF(received), c->type)                                      \
    ROW(X, alltoallv, Alltoallv, alltoall,                                     \
        (.sends_all = 1, .receives_all = 1, .varying = 1), c->send,            \
        ISO_BLOCKS_OF(sent), c->type, c->receive, ISO_BLOCKS_OF(received),     \
        c->type)                                                               \
    ROW(X, alltoallw, Alltoallw, alltoall,                                     \
        (.sends_all = 1, .receives_all = 1, .varying = 1, .in_bytes = 1),      \
        c->send, ISO_BLOCKS_OF(sent), c->sent->types, c->receive,              \
        ISO_BLOCKS_OF(received), c->received->types)                           \
    ROW(X, reduce_scatter, Reduce_scatter, reduce_scatter_block,               \
        (.reduces = 1, .sends_all = 1, .varying = 1), c->send, c->receive,     \
        c->sent->counts, c->type, c->reduction)                                \
    ROW(X, neighbor_allgather, Neighbor_allgather, neighbor_allgather,         \
        (.receives_all = 1, .neighbors = 1), c->send, ISO_BLOCK, c->receive,   \
        ISO_BLOCK)                                                             \
    ROW(X, neighbor_allgatherv, Neighbor_allgatherv, neighbor_allgather,       \
        (.receives_all = 1, .neighbors = 1, .varying = 1), c->send, ISO_BLOCK, \
        c->receive, ISO_BLOCKS_OF(received), c->type)                          \
    ROW(X, neighbor_alltoall, Neighbor_alltoall, neighbor_alltoall,            \
        (.sends_all = 1, .receives_all = 1, .neighbors = 1), c->send,          \
        ISO_BLOCK, c->receive, ISO_BLOCK)                                      \
    ROW(X, neighbor_alltoallv, Neighbor_alltoallv, neighbor_alltoall,          \
        (.sends_all = 1, .receives_all = 1, .neighbors = 1, .varying = 1),     \
        c->send, ISO_BLOCKS_OF(sent), c->type, c->receive,                     \
        ISO_BLOCKS_OF(received), c->type)                                      \
    ROW(X, neighbor_alltoallw, Neighbor_alltoallw, neighbor_alltoall,          \
        (.sends_all = 1, .receives_all = 1, .neighbors = 1, .varying = 1),     \
        c->send, c->sent->counts, c->sent->offsets, c->sent->types,            \
        c->receive, c->received->counts, c->received->offsets,                 \
        c->received->types)

/** All of them. */
#define ISO_OPERATIONS(ROW, X)                                                 \
    ROW(X, barrier, Barrier, barrier, (.empty = 1), )                          \
    ISO_MOVING_OPERATIONS(ROW, X)
