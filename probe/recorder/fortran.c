/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file fortran.c
 * The calls without a buffer of Fortran programs: those of mpi_f08 on MPICH do
 * not come to the C functions of this library, and none does on Open MPI.
 */
#include "recorder/fortran_calls.h"
#include "recorder/requests.h"
#include "recording/memory.h"

#include <stdlib.h>

/* --- requests ------------------------------------------------------------- */

/** Convert handles before a call, which sets them to MPI_REQUEST_NULL. */
static MPI_Request *copies(const MPI_Fint *requests, int count)
{
    MPI_Request *found = iso_resized(NULL, (size_t)count * sizeof(*found));
    for (int k = 0; k < count; k++) {
        found[k] = PMPI_Request_f2c(requests[k]);
    }
    return found;
}

/** Keep completions; indices count from 1, and `done` is below 0 for none. */
static void keep_completed(iso_call_t *call, iso_op_t op,
                           const MPI_Request *asked, int count,
                           const MPI_Fint *indices, int done)
{
    done = done < 0 ? 0 : done;
    int *from_0 = iso_resized(NULL, (size_t)done * sizeof(*from_0));
    for (int k = 0; k < done && indices; k++) {
        from_0[k] = (int)indices[k] - 1;
    }
    iso_keep_completed(call, op, asked, count, indices ? from_0 : NULL, done);
    free(from_0);
}

#define COMPLETION(lower, UPPER, PARAMETERS, ARGUMENTS, OP, REQUESTS, LENGTH,  \
                   INDICES, DONE)                                              \
    TAKE_AND(lower, UPPER, PARAMETERS, ARGUMENTS,                              \
             MPI_Request *asked = copies(REQUESTS, LENGTH),                    \
             keep_completed(&call, OP, asked, LENGTH, INDICES, DONE),          \
             free(asked))

#define ONE    MPI_Fint *request
#define MANY   MPI_Fint *count, MPI_Fint *requests
#define N      (int)*count
#define IF_ANY (*index == MPI_UNDEFINED ? 0 : 1)

COMPLETION(mpi_wait, MPI_WAIT, (ONE, STATUS_TYPE *status, CODE),
           (request, status, code), ISO_OP_WAIT, request, 1, NULL, 1)
COMPLETION(mpi_waitall, MPI_WAITALL, (MANY, STATUS_TYPE *statuses, CODE),
           (count, requests, statuses, code), ISO_OP_WAITALL, requests, N, NULL,
           N)
COMPLETION(mpi_waitany, MPI_WAITANY,
           (MANY, MPI_Fint *index, STATUS_TYPE *status, CODE),
           (count, requests, index, status, code), ISO_OP_WAITANY, requests, N,
           index, IF_ANY)
COMPLETION(mpi_waitsome, MPI_WAITSOME,
           (MANY, MPI_Fint *done, MPI_Fint *indices, STATUS_TYPE *statuses,
            CODE),
           (count, requests, done, indices, statuses, code), ISO_OP_WAITSOME,
           requests, N, indices, (int)*done)
COMPLETION(mpi_test, MPI_TEST, (ONE, MPI_Fint *flag, STATUS_TYPE *status, CODE),
           (request, flag, status, code), ISO_OP_TEST, request, 1, NULL,
           *flag != 0)
COMPLETION(mpi_testall, MPI_TESTALL,
           (MANY, MPI_Fint *flag, STATUS_TYPE *statuses, CODE),
           (count, requests, flag, statuses, code), ISO_OP_TESTALL, requests, N,
           NULL, *flag ? N : 0)
COMPLETION(mpi_testany, MPI_TESTANY,
           (MANY, MPI_Fint *index, MPI_Fint *flag, STATUS_TYPE *status, CODE),
           (count, requests, index, flag, status, code), ISO_OP_TESTANY,
           requests, N, index, *flag ? IF_ANY : 0)
COMPLETION(mpi_testsome, MPI_TESTSOME,
           (MANY, MPI_Fint *done, MPI_Fint *indices, STATUS_TYPE *statuses,
            CODE),
           (count, requests, done, indices, statuses, code), ISO_OP_TESTSOME,
           requests, N, indices, (int)*done)

/** Keep starts of persistent requests. */
static void keep_starts(iso_call_t *call, const MPI_Fint *requests, int count)
{
    MPI_Request *started = copies(requests, count);
    iso_keep_starts(call, count, started);
    free(started);
}

TAKE(mpi_start, MPI_START, (ONE, CODE), (request, code), ,
     keep_starts(&call, request, 1))
TAKE(mpi_startall, MPI_STARTALL, (MANY, CODE), (count, requests, code), ,
     keep_starts(&call, requests, N))
TAKE(mpi_request_free, MPI_REQUEST_FREE, (ONE, CODE), (request, code),
     MPI_Request asked = PMPI_Request_f2c(*request),
     iso_thread_requests(-iso_requests_forget(asked)))

/* --- probing -------------------------------------------------------------- */

TAKE(mpi_probe, MPI_PROBE, (FROM, STATUS_TYPE *status, CODE),
     (FROM_VALUES, status, code), WITH_STATUS, SEEN;
     iso_keep_probe(&call, &seen, COMM, NULL))
TAKE(
    mpi_iprobe, MPI_IPROBE, (FROM, MPI_Fint *flag, STATUS_TYPE *status, CODE),
    (FROM_VALUES, flag, status, code), WITH_STATUS, if (*flag) {
        SEEN;
        iso_keep_probe(&call, &seen, COMM, NULL);
    })
TAKE(mpi_mprobe, MPI_MPROBE,
     (FROM, MPI_Fint *message, STATUS_TYPE *status, CODE),
     (FROM_VALUES, message, status, code), WITH_STATUS, SEEN;
     MPI_Message matched = PMPI_Message_f2c(*message);
     iso_keep_probe(&call, &seen, COMM, &matched))

/* --- without buffers ------------------------------------------------------ */

COLLECTIVE(mpi_barrier, MPI_BARRIER, (MPI_Fint * comm), (comm), ISO_OP_BARRIER,
           0, ISO_NONE)
ICOLLECTIVE(mpi_ibarrier, MPI_IBARRIER, (MPI_Fint * comm), (comm),
            ISO_OP_BARRIER, 0, ISO_NONE)

/** A call that is only counted, of so many arguments before the code. */
#define OTHER(OP, lower, UPPER, PARAMETERS, ARGUMENTS)                         \
    TAKE(lower, UPPER, (LIST PARAMETERS, CODE), (LIST ARGUMENTS, code), ,      \
         iso_keep_other(&call, OP, 0))
#define GIVEN_1  (void *a)
#define VALUES_1 (a)
#define GIVEN_2  (void *a, void *b)
#define VALUES_2 (a, b)
#define GIVEN_3  (void *a, void *b, void *c)
#define VALUES_3 (a, b, c)
#define GIVEN_4  (void *a, void *b, void *c, void *d)
#define VALUES_4 (a, b, c, d)
#define GIVEN_5  (void *a, void *b, void *c, void *d, void *e)
#define VALUES_5 (a, b, c, d, e)
#define GIVEN_6  (void *a, void *b, void *c, void *d, void *e, void *f)
#define VALUES_6 (a, b, c, d, e, f)

#define COMMUNICATOR(lower, UPPER, N)                                          \
    OTHER(ISO_OP_COMMUNICATOR, lower, UPPER, GIVEN_##N, VALUES_##N)
#define WINDOW(lower, UPPER, N)                                                \
    OTHER(ISO_OP_WINDOW, lower, UPPER, GIVEN_##N, VALUES_##N)

COMMUNICATOR(mpi_comm_dup, MPI_COMM_DUP, 2)
COMMUNICATOR(mpi_comm_split, MPI_COMM_SPLIT, 4)
COMMUNICATOR(mpi_comm_split_type, MPI_COMM_SPLIT_TYPE, 5)
COMMUNICATOR(mpi_comm_create, MPI_COMM_CREATE, 3)
COMMUNICATOR(mpi_comm_create_group, MPI_COMM_CREATE_GROUP, 4)
COMMUNICATOR(mpi_comm_free, MPI_COMM_FREE, 1)
COMMUNICATOR(mpi_cart_create, MPI_CART_CREATE, 6)
COMMUNICATOR(mpi_cart_sub, MPI_CART_SUB, 3)
COMMUNICATOR(mpi_intercomm_create, MPI_INTERCOMM_CREATE, 6)
COMMUNICATOR(mpi_intercomm_merge, MPI_INTERCOMM_MERGE, 3)
WINDOW(mpi_win_fence, MPI_WIN_FENCE, 2)
WINDOW(mpi_win_start, MPI_WIN_START, 3)
WINDOW(mpi_win_complete, MPI_WIN_COMPLETE, 1)
WINDOW(mpi_win_post, MPI_WIN_POST, 3)
WINDOW(mpi_win_wait, MPI_WIN_WAIT, 1)
WINDOW(mpi_win_lock, MPI_WIN_LOCK, 4)
WINDOW(mpi_win_unlock, MPI_WIN_UNLOCK, 2)
WINDOW(mpi_win_flush, MPI_WIN_FLUSH, 2)
WINDOW(mpi_win_free, MPI_WIN_FREE, 1)
