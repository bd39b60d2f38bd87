/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file counted_calls.h
 * The calls that have counts, in one of their two sizes: included by calls.c
 * with counts that are int, and by large_counts.c with MPI_Count. Before that,
 * COUNT and DISPLACEMENT are types, and CALL(Send) and LIBRARY(Send) the names
 * of the call and of that of the library.
 *
 * A count that MPI does not look at may be anything, and is not used here.
 */
#include "preload/wrapper.h"
#include "recorder/event_args.h"

#define TYPE       MPI_Datatype
#define IN_C(type) (type)
#include "recorder/mean_blocks.h"

#define LIST(...) __VA_ARGS__

/** Define a call that is recorded while recording is active, with statements
 *  before it. */
#define TAKE_AFTER(Name, PARAMETERS, ARGUMENTS, BEFORE, KEEP)                  \
    ISO_WRAPPER int CALL(Name) PARAMETERS                                      \
    {                                                                          \
        BEFORE;                                                                \
        iso_call_t call = iso_call_begin();                                    \
        if (iso_call_end(&call, LIBRARY(Name) ARGUMENTS)) {                    \
            KEEP;                                                              \
        }                                                                      \
        return iso_call_done(&call);                                           \
    }
#define TAKE(Name, PARAMETERS, ARGUMENTS, KEEP)                                \
    TAKE_AFTER(Name, PARAMETERS, ARGUMENTS, , KEEP)

/* --- messages ------------------------------------------------------------- */

#define MESSAGE void *buffer, COUNT count, MPI_Datatype type
#define TO      int to, int tag, MPI_Comm comm
#define BYTES   iso_bytes(count, type)

#define SEND(Name, name)                                                       \
    TAKE(Name, (const MESSAGE, TO), (buffer, count, type, to, tag, comm),      \
         iso_event_message(&call, ISO_OP_##name, ISO_NOW, BYTES, to, comm,     \
                           NULL))                                              \
    ISEND(I##name, i##name, ISO_BEGUN)                                         \
    ISEND(Name##_init, i##name, ISO_LATER)
#define ISEND(Name, OP, START)                                                 \
    TAKE(Name, (const MESSAGE, TO, MPI_Request *request),                      \
         (buffer, count, type, to, tag, comm, request),                        \
         iso_event_message(&call, ISO_OP_##OP, START, BYTES, to, comm,         \
                           request))

SEND(Send, send)
SEND(Bsend, bsend)
SEND(Ssend, ssend)
SEND(Rsend, rsend)

#define FROM int source, int tag, MPI_Comm comm
#define IRECV(Name, START)                                                     \
    TAKE(Name, (MESSAGE, FROM, MPI_Request * request),                         \
         (buffer, count, type, source, tag, comm, request),                    \
         iso_event_message(&call, ISO_OP_irecv, START, BYTES, source, comm,    \
                           request))

IRECV(Irecv, ISO_BEGUN)
IRECV(Recv_init, ISO_LATER)

/** Have a status, though the program wants none. */
#define WITH_STATUS                                                            \
    MPI_Status own;                                                            \
    status = status == MPI_STATUS_IGNORE ? &own : status
#define TAKE_STATUS(Name, PARAMETERS, ARGUMENTS, KEEP)                         \
    TAKE_AFTER(Name, PARAMETERS, ARGUMENTS, WITH_STATUS, KEEP)

TAKE_STATUS(Recv, (MESSAGE, FROM, MPI_Status *status),
            (buffer, count, type, source, tag, comm, status),
            iso_event_received(&call, status, source, comm))

#define SENDRECV                                                               \
    const void *send, COUNT send_count, MPI_Datatype send_type, int to,        \
        int send_tag, void *receive, COUNT receive_count,                      \
        MPI_Datatype receive_type, int source, int tag, MPI_Comm comm
#define SENDRECV_VALUES                                                        \
    send, send_count, send_type, to, send_tag, receive, receive_count,         \
        receive_type, source, tag, comm
#define EXCHANGED                                                              \
    iso_bytes(send_count, send_type), to,                                      \
        iso_bytes(receive_count, receive_type), source, comm
#define REPLACED       BYTES, to, BYTES, source, comm
#define REPLACE        MESSAGE, int to, int send_tag, FROM
#define REPLACE_VALUES buffer, count, type, to, send_tag, source, tag, comm

TAKE_STATUS(Sendrecv, (SENDRECV, MPI_Status *status), (SENDRECV_VALUES, status),
            iso_event_exchange(&call, EXCHANGED, status, NULL))
TAKE_STATUS(Sendrecv_replace, (REPLACE, MPI_Status *status),
            (REPLACE_VALUES, status),
            iso_event_exchange(&call, REPLACED, status, NULL))
#if MPI_VERSION >= 4
TAKE(Isendrecv, (SENDRECV, MPI_Request *request), (SENDRECV_VALUES, request),
     iso_event_exchange(&call, EXCHANGED, NULL, request))
TAKE(Isendrecv_replace, (REPLACE, MPI_Request *request),
     (REPLACE_VALUES, request),
     iso_event_exchange(&call, REPLACED, NULL, request))
#endif

#define MATCHED MPI_Message matched = *message
TAKE_AFTER(Mrecv, (MESSAGE, MPI_Message *message, MPI_Status *status),
           (buffer, count, type, message, status), WITH_STATUS;
           MATCHED, iso_event_matched(&call, matched, BYTES, status, NULL))
TAKE_AFTER(Imrecv, (MESSAGE, MPI_Message *message, MPI_Request *request),
           (buffer, count, type, message, request), MATCHED,
           iso_event_matched(&call, matched, BYTES, NULL, request))

/* --- collective operations ------------------------------------------------ */

#if MPI_VERSION >= 4
#define PERSISTENT(Name, OP, PARAMETERS, ARGUMENTS, SIZE, ROOT)                \
    TAKE(                                                                      \
        Name##_init, (LIST PARAMETERS, MPI_Info info, MPI_Request * request),  \
        (LIST ARGUMENTS, info, request),                                       \
        iso_event_collective(&call, OP, ISO_LATER, SIZE, ROOT, comm, request))
#else
#define PERSISTENT(Name, OP, PARAMETERS, ARGUMENTS, SIZE, ROOT)
#endif

/** Define an operation: blocking, nonblocking, persistent. */
#define COLLECTIVE(Name, name, PARAMETERS, ARGUMENTS, SIZE, ROOT)              \
    TAKE(Name, PARAMETERS, ARGUMENTS,                                          \
         iso_event_collective(&call, ISO_OP_##name, ISO_NOW, SIZE, ROOT, comm, \
                              NULL))                                           \
    TAKE(I##name, (LIST PARAMETERS, MPI_Request * request),                    \
         (LIST ARGUMENTS, request),                                            \
         iso_event_collective(&call, ISO_OP_##name, ISO_BEGUN, SIZE, ROOT,     \
                              comm, request))                                  \
    PERSISTENT(Name, ISO_OP_##name, PARAMETERS, ARGUMENTS, SIZE, ROOT)
#define ROOTED(Name, name, PARAMETERS, ARGUMENTS, SIZE)                        \
    COLLECTIVE(Name, name, (LIST PARAMETERS, int root, MPI_Comm comm),         \
               (LIST ARGUMENTS, root, comm), SIZE, root)
#define ALL(Name, name, PARAMETERS, ARGUMENTS, SIZE)                           \
    COLLECTIVE(Name, name, (LIST PARAMETERS, MPI_Comm comm),                   \
               (LIST ARGUMENTS, comm), SIZE, ISO_NONE)

#define SENT     const void *send, COUNT send_count, MPI_Datatype send_type
#define RECEIVED void *receive, COUNT receive_count, MPI_Datatype receive_type
#define SENT_VALUES     send, send_count, send_type
#define RECEIVED_VALUES receive, receive_count, receive_type
#define SENT_BYTES      iso_bytes(send_count, send_type)
#define RECEIVED_BYTES  iso_bytes(receive_count, receive_type)

#define SENT_V                                                                 \
    const void *send, const COUNT *send_counts, const DISPLACEMENT *send_at,   \
        MPI_Datatype send_type
#define RECEIVED_V                                                             \
    void *receive, const COUNT *receive_counts,                                \
        const DISPLACEMENT *receive_at, MPI_Datatype receive_type
#define SENT_V_VALUES     send, send_counts, send_at, send_type
#define RECEIVED_V_VALUES receive, receive_counts, receive_at, receive_type
#define SENT_V_BYTES      mean_block(send_counts, iso_partners(comm), send_type)
#define RECEIVED_V_BYTES                                                       \
    mean_block(receive_counts, iso_partners(comm), receive_type)

#define AT_ROOT(a, b) (iso_is_root(root, comm) ? (a) : (b))
#define W                                                                      \
    const void *send, const COUNT *send_counts, const DISPLACEMENT *send_at,   \
        const MPI_Datatype *send_types, void *receive,                         \
        const COUNT *receive_counts, const DISPLACEMENT *receive_at,           \
        const MPI_Datatype *receive_types
#define NEIGHBOR_W                                                             \
    const void *send, const COUNT *send_counts, const MPI_Aint *send_at,       \
        const MPI_Datatype *send_types, void *receive,                         \
        const COUNT *receive_counts, const MPI_Aint *receive_at,               \
        const MPI_Datatype *receive_types
#define W_VALUES                                                               \
    send, send_counts, send_at, send_types, receive, receive_counts,           \
        receive_at, receive_types

#ifndef LARGE_COUNTS
COLLECTIVE(Barrier, barrier, (MPI_Comm comm), (comm), 0, ISO_NONE)
#endif
ROOTED(Bcast, bcast, (MESSAGE), (buffer, count, type), BYTES)
ROOTED(Gather, gather, (SENT, RECEIVED), (SENT_VALUES, RECEIVED_VALUES),
       AT_ROOT(RECEIVED_BYTES, SENT_BYTES))
ROOTED(Gatherv, gatherv, (SENT, RECEIVED_V), (SENT_VALUES, RECEIVED_V_VALUES),
       AT_ROOT(RECEIVED_V_BYTES, SENT_BYTES))
ROOTED(Scatter, scatter, (SENT, RECEIVED), (SENT_VALUES, RECEIVED_VALUES),
       AT_ROOT(SENT_BYTES, RECEIVED_BYTES))
ROOTED(Scatterv, scatterv, (SENT_V, RECEIVED), (SENT_V_VALUES, RECEIVED_VALUES),
       AT_ROOT(SENT_V_BYTES, RECEIVED_BYTES))
ALL(Allgather, allgather, (SENT, RECEIVED), (SENT_VALUES, RECEIVED_VALUES),
    RECEIVED_BYTES)
ALL(Allgatherv, allgatherv, (SENT, RECEIVED_V),
    (SENT_VALUES, RECEIVED_V_VALUES), RECEIVED_V_BYTES)
ALL(Alltoall, alltoall, (SENT, RECEIVED), (SENT_VALUES, RECEIVED_VALUES),
    RECEIVED_BYTES)
/* In place, the received data are those sent. */
ALL(Alltoallv, alltoallv, (SENT_V, RECEIVED_V),
    (SENT_V_VALUES, RECEIVED_V_VALUES),
    send == MPI_IN_PLACE ? RECEIVED_V_BYTES : SENT_V_BYTES)
ALL(Alltoallw, alltoallw, (W), (W_VALUES),
    send == MPI_IN_PLACE
        ? mean_of_types(receive_counts, iso_partners(comm), receive_types)
        : mean_of_types(send_counts, iso_partners(comm), send_types))

#define REDUCED                                                                \
    const void *send, void *receive, COUNT count, MPI_Datatype type,           \
        MPI_Op operation
#define REDUCED_VALUES send, receive, count, type, operation

ROOTED(Reduce, reduce, (REDUCED), (REDUCED_VALUES), BYTES)
ALL(Allreduce, allreduce, (REDUCED), (REDUCED_VALUES), BYTES)
ALL(Scan, scan, (REDUCED), (REDUCED_VALUES), BYTES)
ALL(Exscan, exscan, (REDUCED), (REDUCED_VALUES), BYTES)
ALL(Reduce_scatter_block, reduce_scatter_block, (REDUCED), (REDUCED_VALUES),
    BYTES)
ALL(Reduce_scatter, reduce_scatter,
    (const void *send, void *receive, const COUNT *counts, MPI_Datatype type,
     MPI_Op operation),
    (send, receive, counts, type, operation),
    mean_block(counts, iso_members(comm)->size, type))

/* Sizes of neighbourhood operations with varying blocks are not recorded. */
ALL(Neighbor_allgather, neighbor_allgather, (SENT, RECEIVED),
    (SENT_VALUES, RECEIVED_VALUES), SENT_BYTES)
ALL(Neighbor_allgatherv, neighbor_allgatherv, (SENT, RECEIVED_V),
    (SENT_VALUES, RECEIVED_V_VALUES), SENT_BYTES)
ALL(Neighbor_alltoall, neighbor_alltoall, (SENT, RECEIVED),
    (SENT_VALUES, RECEIVED_VALUES), SENT_BYTES)
ALL(Neighbor_alltoallv, neighbor_alltoallv, (SENT_V, RECEIVED_V),
    (SENT_V_VALUES, RECEIVED_V_VALUES), 0)
ALL(Neighbor_alltoallw, neighbor_alltoallw, (NEIGHBOR_W), (W_VALUES), 0)

/* --- one-sided: counted, with bytes --------------------------------
 */

#define ORIGIN void *buffer, COUNT count, MPI_Datatype type
#define TARGET                                                                 \
    int target, MPI_Aint at, COUNT target_count, MPI_Datatype target_type
#define TARGET_VALUES target, at, target_count, target_type
#define ONE_SIDED(Name, OP, PARAMETERS, ARGUMENTS)                             \
    TAKE(Name, PARAMETERS, ARGUMENTS, iso_event_other(&call, OP, BYTES))

ONE_SIDED(Put, ISO_OP_put, (const ORIGIN, TARGET, MPI_Win window),
          (buffer, count, type, TARGET_VALUES, window))
ONE_SIDED(Get, ISO_OP_get, (ORIGIN, TARGET, MPI_Win window),
          (buffer, count, type, TARGET_VALUES, window))
ONE_SIDED(Accumulate, ISO_OP_accumulate,
          (const ORIGIN, TARGET, MPI_Op operation, MPI_Win window),
          (buffer, count, type, TARGET_VALUES, operation, window))
ONE_SIDED(Rput, ISO_OP_put,
          (const ORIGIN, TARGET, MPI_Win window, MPI_Request *request),
          (buffer, count, type, TARGET_VALUES, window, request))
ONE_SIDED(Rget, ISO_OP_get,
          (ORIGIN, TARGET, MPI_Win window, MPI_Request *request),
          (buffer, count, type, TARGET_VALUES, window, request))
