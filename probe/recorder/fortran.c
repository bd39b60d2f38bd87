/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file fortran.c
 * The calls without a buffer of Fortran programs: those of mpi_f08 on MPICH do
 * not come to the C functions of this library, and none does on Open MPI.
 */
#include <mpi.h>

#ifndef SMPI_H /* programs in C only */

#include "recorder/fortran_calls.h"
#include "recorder/requests.h"
#include "recording/memory.h"

#include <stdlib.h>

/* --- requests ------------------------------------------------------------- */

/** Convert handles before a call, which sets them to MPI_REQUEST_NULL. */
static MPI_Request *copies(const MPI_Fint *requests, int count)
{
    MPI_Request *found = iso_resized(NULL, count * sizeof(*found));
    for (int k = 0; k < count; k++) {
        found[k] = PMPI_Request_f2c(requests[k]);
    }
    return found;
}

/** Record completions; indices count from 1, and `done` is below 0 for none. */
static void keep_completed(iso_call_t *call, iso_op_t op,
                           const MPI_Request *requests, int count,
                           const MPI_Fint *indices, int done)
{
    done = done < 0 ? 0 : done;
    int *from_0 = iso_resized(NULL, done * sizeof(*from_0));
    for (int k = 0; k < done && indices; k++) {
        from_0[k] = indices[k] - 1;
    }
    iso_event_completed(call, op, requests, count, indices ? from_0 : NULL,
                        done);
    free(from_0);
}

#define COMPLETION(name, NAME, ARGUMENTS, REQUESTS, LENGTH, INDICES, DONE)     \
    TAKE_AND(                                                                  \
        name, NAME, ARGUMENTS,                                                 \
        MPI_Request *handles = copies(REQUESTS, LENGTH),                       \
        keep_completed(&call, ISO_OP_##name, handles, LENGTH, INDICES, DONE),  \
        free(handles))

#define N      (int)*count
#define IF_ANY (*index == MPI_UNDEFINED ? 0 : 1)

COMPLETION(wait, WAIT, (request, status), request, 1, NULL, 1)
COMPLETION(waitall, WAITALL, (count, requests, statuses), requests, N, NULL, N)
COMPLETION(waitany, WAITANY, (count, requests, index, status), requests, N,
           index, IF_ANY)
COMPLETION(waitsome, WAITSOME, (count, requests, done, indices, statuses),
           requests, N, indices, *done)
COMPLETION(test, TEST, (request, flag, status), request, 1, NULL, *flag != 0)
COMPLETION(testall, TESTALL, (count, requests, flag, statuses), requests, N,
           NULL, *flag ? N : 0)
COMPLETION(testany, TESTANY, (count, requests, index, flag, status), requests,
           N, index, *flag ? IF_ANY : 0)
COMPLETION(testsome, TESTSOME, (count, requests, done, indices, statuses),
           requests, N, indices, *done)

/** Record starts of persistent requests. */
static void keep_starts(iso_call_t *call, const MPI_Fint *requests, int count)
{
    MPI_Request *started = copies(requests, count);
    iso_event_starts(call, count, started);
    free(started);
}

TAKE(start, START, (request), , keep_starts(&call, request, 1))
TAKE(startall, STARTALL, (count, requests), , keep_starts(&call, requests, N))
TAKE(request_free, REQUEST_FREE, (request),
     MPI_Request requests = PMPI_Request_f2c(*request),
     iso_thread_requests(-iso_requests_forget(requests)))

/* --- probing -------------------------------------------------------------- */

TAKE(probe, PROBE, (FROM, status), WITH_STATUS, SEEN;
     iso_event_probe(&call, &seen, COMM, NULL))
TAKE(
    iprobe, IPROBE, (FROM, flag, status), WITH_STATUS, if (*flag) {
        SEEN;
        iso_event_probe(&call, &seen, COMM, NULL);
    })
TAKE(mprobe, MPROBE, (FROM, message, status), WITH_STATUS, SEEN;
     MPI_Message matched = PMPI_Message_f2c(*message);
     iso_event_probe(&call, &seen, COMM, &matched))

/* --- without buffers ------------------------------------------------------ */

COLLECTIVE(barrier, BARRIER, (comm), 0, ISO_NONE)

/* Calls that are only counted. */
#define OTHER(OP, name, NAME, ...)                                             \
    TAKE(name, NAME, (__VA_ARGS__), , iso_event_other(&call, ISO_OP_##OP, 0))
#define COMMUNICATOR(...) OTHER(communicator, __VA_ARGS__)
#define WINDOW(...)       OTHER(window, __VA_ARGS__)

COMMUNICATOR(comm_dup, COMM_DUP, a, b)
COMMUNICATOR(comm_split, COMM_SPLIT, a, b, c, d)
COMMUNICATOR(comm_split_type, COMM_SPLIT_TYPE, a, b, c, d, e)
COMMUNICATOR(comm_create, COMM_CREATE, a, b, c)
COMMUNICATOR(comm_create_group, COMM_CREATE_GROUP, a, b, c, d)
COMMUNICATOR(comm_free, COMM_FREE, a)
COMMUNICATOR(cart_create, CART_CREATE, a, b, c, d, e, f)
COMMUNICATOR(cart_sub, CART_SUB, a, b, c)
COMMUNICATOR(intercomm_create, INTERCOMM_CREATE, a, b, c, d, e, f)
COMMUNICATOR(intercomm_merge, INTERCOMM_MERGE, a, b, c)
WINDOW(win_fence, WIN_FENCE, a, b)
WINDOW(win_start, WIN_START, a, b, c)
WINDOW(win_complete, WIN_COMPLETE, a)
WINDOW(win_post, WIN_POST, a, b, c)
WINDOW(win_wait, WIN_WAIT, a)
WINDOW(win_lock, WIN_LOCK, a, b, c, d)
WINDOW(win_unlock, WIN_UNLOCK, a, b)
WINDOW(win_flush, WIN_FLUSH, a, b)
WINDOW(win_free, WIN_FREE, a)

#else
typedef int iso_no_fortran_t;
#endif
