/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file fortran_openmpi.c
 * The calls with a buffer of Fortran programs on Open MPI, whose Fortran
 * library calls PMPI_ functions.
 */
#include <mpi.h>

#if defined(OPEN_MPI) && OPEN_MPI

#include "preload/program.h"
#include "recorder/fortran_calls.h"

/* --- beginning and end ---------------------------------------------------- */

ISO_FORTRAN_PROGRAM

/* --- messages ------------------------------------------------------------- */

#define MESSAGE buffer, count, type
#define BYTES   iso_bytes(*count, PMPI_Type_f2c(*type))

#define SEND(name, NAME)                                                       \
    TAKE(name, NAME, (MESSAGE, to, tag, comm), ,                               \
         iso_event_message(&call, ISO_OP_##name, ISO_NOW, BYTES, *to, COMM,    \
                           NULL))
#define ISEND(name, NAME, OP, START)                                           \
    TAKE(name, NAME, (MESSAGE, to, tag, comm, request), ,                      \
         MADE(iso_event_message(&call, ISO_OP_##OP, START, BYTES, *to, COMM,   \
                                &made)))
#define SENDS(name, NAME)                                                      \
    SEND(name, NAME)                                                           \
    ISEND(i##name, I##NAME, i##name, ISO_BEGUN)                                \
    ISEND(name##_init, NAME##_INIT, i##name, ISO_LATER)
#define IRECV(name, NAME, START)                                               \
    TAKE(name, NAME, (MESSAGE, FROM, request), ,                               \
         MADE(iso_event_message(&call, ISO_OP_irecv, START, BYTES, *source,    \
                                COMM, &made)))

SENDS(send, SEND)
SENDS(bsend, BSEND)
SENDS(ssend, SSEND)
SENDS(rsend, RSEND)
IRECV(irecv, IRECV, ISO_BEGUN)
IRECV(recv_init, RECV_INIT, ISO_LATER)

TAKE(recv, RECV, (MESSAGE, FROM, status), WITH_STATUS, SEEN;
     iso_event_received(&call, &seen, *source, COMM))
TAKE(mrecv, MRECV, (MESSAGE, message, status), WITH_STATUS;
     MPI_Message matched = PMPI_Message_f2c(*message), SEEN;
     iso_event_matched(&call, matched, BYTES, &seen, NULL))
TAKE(sendrecv_replace, SENDRECV_REPLACE, (MESSAGE, to, send_tag, FROM, status),
     WITH_STATUS, SEEN;
     iso_event_exchange(&call, BYTES, *to, BYTES, *source, COMM, &seen, NULL))

#define SENT           send, send_count, send_type
#define RECEIVED       receive, receive_count, receive_type
#define SENT_BYTES     iso_bytes(*send_count, PMPI_Type_f2c(*send_type))
#define RECEIVED_BYTES iso_bytes(*receive_count, PMPI_Type_f2c(*receive_type))

TAKE(sendrecv, SENDRECV, (SENT, to, send_tag, RECEIVED, FROM, status),
     WITH_STATUS, SEEN;
     iso_event_exchange(&call, SENT_BYTES, *to, RECEIVED_BYTES, *source, COMM,
                        &seen, NULL))

/* --- collective operations ------------------------------------------------ */

#define COUNT      MPI_Fint
#define TYPE       MPI_Fint
#define IN_C(type) PMPI_Type_f2c(type)
#include "recorder/mean_blocks.h"

#define AT_ROOT(a, b) (iso_is_root(*root, COMM) ? (a) : (b))
#define SENT_V        send, send_count, send_at, send_type
#define RECEIVED_V    receive, receive_count, receive_at, receive_type
#define SENT_V_BYTES  mean_block(send_count, iso_partners(COMM), *send_type)
#define RECEIVED_V_BYTES                                                       \
    mean_block(receive_count, iso_partners(COMM), *receive_type)
#define REDUCED send, receive, count, type, operation

#define ROOTED(name, NAME, ARGUMENTS, SIZE)                                    \
    COLLECTIVE(name, NAME, (LIST ARGUMENTS, root, comm), SIZE, *root)
#define ALL(name, NAME, ARGUMENTS, SIZE)                                       \
    COLLECTIVE(name, NAME, (LIST ARGUMENTS, comm), SIZE, ISO_NONE)

ROOTED(bcast, BCAST, (MESSAGE), BYTES)
ROOTED(gather, GATHER, (SENT, RECEIVED), AT_ROOT(RECEIVED_BYTES, SENT_BYTES))
ROOTED(gatherv, GATHERV, (SENT, RECEIVED_V),
       AT_ROOT(RECEIVED_V_BYTES, SENT_BYTES))
ROOTED(scatter, SCATTER, (SENT, RECEIVED), AT_ROOT(SENT_BYTES, RECEIVED_BYTES))
ROOTED(scatterv, SCATTERV, (SENT_V, RECEIVED),
       AT_ROOT(SENT_V_BYTES, RECEIVED_BYTES))
ALL(allgather, ALLGATHER, (SENT, RECEIVED), RECEIVED_BYTES)
ALL(allgatherv, ALLGATHERV, (SENT, RECEIVED_V), RECEIVED_V_BYTES)
ALL(alltoall, ALLTOALL, (SENT, RECEIVED), RECEIVED_BYTES)
/* In place both are the same. */
ALL(alltoallv, ALLTOALLV, (SENT_V, RECEIVED_V), RECEIVED_V_BYTES)
ALL(alltoallw, ALLTOALLW, (SENT_V, RECEIVED_V),
    mean_of_types(receive_count, iso_partners(COMM), receive_type))
ROOTED(reduce, REDUCE, (REDUCED), BYTES)
ALL(allreduce, ALLREDUCE, (REDUCED), BYTES)
ALL(scan, SCAN, (REDUCED), BYTES)
ALL(exscan, EXSCAN, (REDUCED), BYTES)
ALL(reduce_scatter_block, REDUCE_SCATTER_BLOCK, (REDUCED), BYTES)
ALL(reduce_scatter, REDUCE_SCATTER, (REDUCED),
    mean_block(count, iso_members(COMM)->size, *type))

#endif
