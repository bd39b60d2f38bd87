/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file fortran_openmpi.c
 * The calls with a buffer of Fortran programs on Open MPI, whose Fortran
 * library calls PMPI_ functions.
 */
#include <mpi.h>

#if defined(OPEN_MPI) && OPEN_MPI

#include "loaded/program.h"
#include "recorder/fortran_calls.h"

/* --- beginning and end ---------------------------------------------------- */

#define PROGRAM(lower, UPPER, PARAMETERS, ARGUMENTS, BEFORE, AFTER)            \
    static void lower##_any PARAMETERS                                         \
    {                                                                          \
        void(*library) PARAMETERS;                                             \
        MPI_Fint own_code = MPI_SUCCESS;                                       \
        code = code ? code : &own_code;                                        \
        *(void **)&library = iso_fortran_function(LIBRARY(lower));             \
        BEFORE;                                                                \
        library ARGUMENTS;                                                     \
        AFTER;                                                                 \
    }                                                                          \
    NAMES(lower, UPPER, PARAMETERS)
#define BEGINS                                                                 \
    if (*code == MPI_SUCCESS) {                                                \
        iso_program_begins();                                                  \
    }

PROGRAM(mpi_init, MPI_INIT, (CODE), (code), , BEGINS)
PROGRAM(mpi_init_thread, MPI_INIT_THREAD,
        (MPI_Fint * required, MPI_Fint *provided, CODE),
        (required, provided, code), , BEGINS)
PROGRAM(mpi_finalize, MPI_FINALIZE, (CODE), (code), iso_program_ends(), )

/* --- messages ------------------------------------------------------------- */

#define MESSAGE        void *buffer, MPI_Fint *count, MPI_Fint *type
#define MESSAGE_VALUES buffer, count, type
#define TO             MPI_Fint *to, MPI_Fint *tag, MPI_Fint *comm
#define BYTES          iso_bytes(*count, PMPI_Type_f2c(*type))

#define SEND(lower, UPPER, OP)                                                 \
    TAKE(lower, UPPER, (MESSAGE, TO, CODE),                                    \
         (MESSAGE_VALUES, to, tag, comm, code), ,                              \
         iso_keep_send(&call, OP, ISO_NOW, BYTES, *to, COMM, NULL))
#define ISEND(lower, UPPER, OP, START)                                         \
    TAKE(lower, UPPER, (MESSAGE, TO, MPI_Fint * request, CODE),                \
         (MESSAGE_VALUES, to, tag, comm, request, code), ,                     \
         MADE(iso_keep_send(&call, OP, START, BYTES, *to, COMM, &made)))
#define IRECV(lower, UPPER, START)                                             \
    TAKE(lower, UPPER, (MESSAGE, FROM, MPI_Fint * request, CODE),              \
         (MESSAGE_VALUES, FROM_VALUES, request, code), ,                       \
         MADE(iso_keep_receive(&call, START, BYTES, *source, COMM, &made)))

SEND(mpi_send, MPI_SEND, ISO_OP_SEND)
SEND(mpi_bsend, MPI_BSEND, ISO_OP_BSEND)
SEND(mpi_ssend, MPI_SSEND, ISO_OP_SSEND)
SEND(mpi_rsend, MPI_RSEND, ISO_OP_RSEND)
ISEND(mpi_isend, MPI_ISEND, ISO_OP_ISEND, ISO_BEGUN)
ISEND(mpi_ibsend, MPI_IBSEND, ISO_OP_IBSEND, ISO_BEGUN)
ISEND(mpi_issend, MPI_ISSEND, ISO_OP_ISSEND, ISO_BEGUN)
ISEND(mpi_irsend, MPI_IRSEND, ISO_OP_IRSEND, ISO_BEGUN)
ISEND(mpi_send_init, MPI_SEND_INIT, ISO_OP_ISEND, ISO_LATER)
ISEND(mpi_bsend_init, MPI_BSEND_INIT, ISO_OP_IBSEND, ISO_LATER)
ISEND(mpi_ssend_init, MPI_SSEND_INIT, ISO_OP_ISSEND, ISO_LATER)
ISEND(mpi_rsend_init, MPI_RSEND_INIT, ISO_OP_IRSEND, ISO_LATER)
IRECV(mpi_irecv, MPI_IRECV, ISO_BEGUN)
IRECV(mpi_recv_init, MPI_RECV_INIT, ISO_LATER)

TAKE(mpi_recv, MPI_RECV, (MESSAGE, FROM, MPI_Fint *status, CODE),
     (MESSAGE_VALUES, FROM_VALUES, status, code), WITH_STATUS, SEEN;
     iso_keep_received(&call, &seen, *source, COMM))
TAKE(mpi_mrecv, MPI_MRECV, (MESSAGE, MPI_Fint *message, MPI_Fint *status, CODE),
     (MESSAGE_VALUES, message, status, code), WITH_STATUS;
     MPI_Message asked = PMPI_Message_f2c(*message), SEEN;
     iso_keep_matched(&call, asked, BYTES, &seen, NULL))
TAKE(mpi_sendrecv_replace, MPI_SENDRECV_REPLACE,
     (MESSAGE, MPI_Fint *to, MPI_Fint *send_tag, FROM, MPI_Fint *status, CODE),
     (MESSAGE_VALUES, to, send_tag, FROM_VALUES, status, code), WITH_STATUS,
     SEEN;
     iso_keep_exchange(&call, BYTES, *to, BYTES, *source, COMM, &seen, NULL))

#define SENT     void *send, MPI_Fint *send_count, MPI_Fint *send_type
#define RECEIVED void *receive, MPI_Fint *receive_count, MPI_Fint *receive_type
#define SENT_VALUES     send, send_count, send_type
#define RECEIVED_VALUES receive, receive_count, receive_type
#define SENT_BYTES      iso_bytes(*send_count, PMPI_Type_f2c(*send_type))
#define RECEIVED_BYTES  iso_bytes(*receive_count, PMPI_Type_f2c(*receive_type))

TAKE(mpi_sendrecv, MPI_SENDRECV,
     (SENT, MPI_Fint *to, MPI_Fint *send_tag, RECEIVED, FROM, MPI_Fint *status,
      CODE),
     (SENT_VALUES, to, send_tag, RECEIVED_VALUES, FROM_VALUES, status, code),
     WITH_STATUS, SEEN;
     iso_keep_exchange(&call, SENT_BYTES, *to, RECEIVED_BYTES, *source, COMM,
                       &seen, NULL))

/* --- collective operations ------------------------------------------------ */

/** Mean block of those that a rank exchanges with @a n others. */
static int64_t mean_block(const MPI_Fint *counts, int n, const MPI_Fint *type)
{
    int64_t sum = 0;
    for (int k = 0; k < n; k++) {
        sum += counts[k];
    }
    return n ? iso_bytes(sum, PMPI_Type_f2c(*type)) / n : 0;
}

static int64_t mean_of_types(const MPI_Fint *counts, int n,
                             const MPI_Fint *types)
{
    int64_t sum = 0;
    for (int k = 0; k < n; k++) {
        sum += iso_bytes(counts[k], PMPI_Type_f2c(types[k]));
    }
    return n ? sum / n : 0;
}

#define BOTH(name, iname, NAME, INAME, ...)                                    \
    COLLECTIVE(name, NAME, __VA_ARGS__)                                        \
    ICOLLECTIVE(iname, INAME, __VA_ARGS__)

#define ROOTED        MPI_Fint *root, MPI_Fint *comm
#define ROOT          *root
#define AT_ROOT(a, b) (iso_is_root(*root, COMM) ? (a) : (b))
#define SENT_V                                                                 \
    void *send, MPI_Fint *send_count, MPI_Fint *send_at, MPI_Fint *send_type
#define RECEIVED_V                                                             \
    void *receive, MPI_Fint *receive_count, MPI_Fint *receive_at,              \
        MPI_Fint *receive_type
#define SENT_V_VALUES     send, send_count, send_at, send_type
#define RECEIVED_V_VALUES receive, receive_count, receive_at, receive_type
#define SENT_V_BYTES      mean_block(send_count, iso_partners(COMM), send_type)
#define RECEIVED_V_BYTES                                                       \
    mean_block(receive_count, iso_partners(COMM), receive_type)
#define REDUCED                                                                \
    void *send, void *receive, MPI_Fint *count, MPI_Fint *type,                \
        MPI_Fint *operation
#define REDUCED_VALUES send, receive, count, type, operation
#define ALL            MPI_Fint *comm

BOTH(mpi_bcast, mpi_ibcast, MPI_BCAST, MPI_IBCAST, (MESSAGE, ROOTED),
     (MESSAGE_VALUES, root, comm), ISO_OP_BCAST, BYTES, ROOT)
BOTH(mpi_gather, mpi_igather, MPI_GATHER, MPI_IGATHER, (SENT, RECEIVED, ROOTED),
     (SENT_VALUES, RECEIVED_VALUES, root, comm), ISO_OP_GATHER,
     AT_ROOT(RECEIVED_BYTES, SENT_BYTES), ROOT)
BOTH(mpi_gatherv, mpi_igatherv, MPI_GATHERV, MPI_IGATHERV,
     (SENT, RECEIVED_V, ROOTED), (SENT_VALUES, RECEIVED_V_VALUES, root, comm),
     ISO_OP_GATHERV, AT_ROOT(RECEIVED_V_BYTES, SENT_BYTES), ROOT)
BOTH(mpi_scatter, mpi_iscatter, MPI_SCATTER, MPI_ISCATTER,
     (SENT, RECEIVED, ROOTED), (SENT_VALUES, RECEIVED_VALUES, root, comm),
     ISO_OP_SCATTER, AT_ROOT(SENT_BYTES, RECEIVED_BYTES), ROOT)
BOTH(mpi_scatterv, mpi_iscatterv, MPI_SCATTERV, MPI_ISCATTERV,
     (SENT_V, RECEIVED, ROOTED), (SENT_V_VALUES, RECEIVED_VALUES, root, comm),
     ISO_OP_SCATTERV, AT_ROOT(SENT_V_BYTES, RECEIVED_BYTES), ROOT)
BOTH(mpi_allgather, mpi_iallgather, MPI_ALLGATHER, MPI_IALLGATHER,
     (SENT, RECEIVED, ALL), (SENT_VALUES, RECEIVED_VALUES, comm),
     ISO_OP_ALLGATHER, RECEIVED_BYTES, ISO_NONE)
BOTH(mpi_allgatherv, mpi_iallgatherv, MPI_ALLGATHERV, MPI_IALLGATHERV,
     (SENT, RECEIVED_V, ALL), (SENT_VALUES, RECEIVED_V_VALUES, comm),
     ISO_OP_ALLGATHERV, RECEIVED_V_BYTES, ISO_NONE)
BOTH(mpi_alltoall, mpi_ialltoall, MPI_ALLTOALL, MPI_IALLTOALL,
     (SENT, RECEIVED, ALL), (SENT_VALUES, RECEIVED_VALUES, comm),
     ISO_OP_ALLTOALL, RECEIVED_BYTES, ISO_NONE)
/* In place both are the same, and else what is sent is not less known. */
BOTH(mpi_alltoallv, mpi_ialltoallv, MPI_ALLTOALLV, MPI_IALLTOALLV,
     (SENT_V, RECEIVED_V, ALL), (SENT_V_VALUES, RECEIVED_V_VALUES, comm),
     ISO_OP_ALLTOALLV, RECEIVED_V_BYTES, ISO_NONE)
BOTH(mpi_alltoallw, mpi_ialltoallw, MPI_ALLTOALLW, MPI_IALLTOALLW,
     (SENT_V, RECEIVED_V, ALL), (SENT_V_VALUES, RECEIVED_V_VALUES, comm),
     ISO_OP_ALLTOALLW,
     mean_of_types(receive_count, iso_partners(COMM), receive_type), ISO_NONE)
BOTH(mpi_reduce, mpi_ireduce, MPI_REDUCE, MPI_IREDUCE, (REDUCED, ROOTED),
     (REDUCED_VALUES, root, comm), ISO_OP_REDUCE, BYTES, ROOT)
BOTH(mpi_allreduce, mpi_iallreduce, MPI_ALLREDUCE, MPI_IALLREDUCE,
     (REDUCED, ALL), (REDUCED_VALUES, comm), ISO_OP_ALLREDUCE, BYTES, ISO_NONE)
BOTH(mpi_scan, mpi_iscan, MPI_SCAN, MPI_ISCAN, (REDUCED, ALL),
     (REDUCED_VALUES, comm), ISO_OP_SCAN, BYTES, ISO_NONE)
BOTH(mpi_exscan, mpi_iexscan, MPI_EXSCAN, MPI_IEXSCAN, (REDUCED, ALL),
     (REDUCED_VALUES, comm), ISO_OP_EXSCAN, BYTES, ISO_NONE)
BOTH(mpi_reduce_scatter_block, mpi_ireduce_scatter_block,
     MPI_REDUCE_SCATTER_BLOCK, MPI_IREDUCE_SCATTER_BLOCK, (REDUCED, ALL),
     (REDUCED_VALUES, comm), ISO_OP_REDUCE_SCATTER_BLOCK, BYTES, ISO_NONE)
BOTH(mpi_reduce_scatter, mpi_ireduce_scatter, MPI_REDUCE_SCATTER,
     MPI_IREDUCE_SCATTER, (REDUCED, ALL), (REDUCED_VALUES, comm),
     ISO_OP_REDUCE_SCATTER, mean_block(count, iso_members(COMM)->size, type),
     ISO_NONE)

#endif
