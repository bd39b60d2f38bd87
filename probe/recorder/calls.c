/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file calls.c
 * The calls of C programs that are recorded, those with large counts aside.
 * Fortran programs on MPICH come here, too: most of its Fortran library calls
 * these names.
 */
#include "base/lists.h"
#include "recorder/requests.h"

#include <stdlib.h>

#define COUNT         int
#define DISPLACEMENT  int
#define CALL(Name)    MPI_##Name
#define LIBRARY(Name) PMPI_##Name

#include "recorder/counted_calls.h"

ISO_WRAPPER int MPI_Abort(MPI_Comm comm, int code)
{
    iso_recorder_forget();
    return PMPI_Abort(comm, code);
}

#if MPI_VERSION >= 4
ISO_WRAPPER int MPI_Session_init(MPI_Info info, MPI_Errhandler handler,
                                 MPI_Session *session)
{
    iso_recorder_session();
    return PMPI_Session_init(info, handler, session);
}
#endif

/* --- requests ------------------------------------------------------------- */

/** Handles as they are before a call, which sets them to MPI_REQUEST_NULL. */
typedef struct {
    MPI_Request few[64];
    MPI_Request *all;
} iso_copies_t;

static void copy(iso_copies_t *copies, int count, const MPI_Request *requests)
{
    copies->all = copies->few;
    if (count > (int)ISO_LENGTH(copies->few)) {
        copies->all = malloc((size_t)count * sizeof(*copies->all));
    }
    for (int k = 0; k < count && copies->all; k++) {
        copies->all[k] = requests[k];
    }
}

static void free_copies(iso_copies_t *copies)
{
    if (copies->all != copies->few) {
        free(copies->all);
    }
}

#define COMPLETION(Name, name, PARAMETERS, ARGUMENTS, REQUESTS, LENGTH,        \
                   INDICES, DONE)                                              \
    ISO_WRAPPER int MPI_##Name PARAMETERS                                      \
    {                                                                          \
        iso_copies_t copies;                                                   \
        iso_call_t call = iso_call_begin();                                    \
        copy(&copies, call.on ? LENGTH : 0, REQUESTS);                         \
        if (iso_call_end(&call, PMPI_##Name ARGUMENTS)) {                      \
            iso_event_completed(&call, ISO_OP_##name, copies.all, LENGTH,      \
                                INDICES, DONE);                                \
        }                                                                      \
        free_copies(&copies);                                                  \
        return iso_call_done(&call);                                           \
    }

#define MANY       int count, MPI_Request requests[]
#define IF_ANY     (*index != MPI_UNDEFINED)
#define COUNTED(n) (*(n) == MPI_UNDEFINED ? 0 : *(n))

COMPLETION(Wait, wait, (MPI_Request * request, MPI_Status *status),
           (request, status), request, 1, NULL, 1)
COMPLETION(Waitall, waitall, (MANY, MPI_Status statuses[]),
           (count, requests, statuses), requests, count, NULL, count)
COMPLETION(Waitany, waitany, (MANY, int *index, MPI_Status *status),
           (count, requests, index, status), requests, count, index, IF_ANY)
COMPLETION(Waitsome, waitsome,
           (MANY, int *done, int indices[], MPI_Status statuses[]),
           (count, requests, done, indices, statuses), requests, count, indices,
           COUNTED(done))
COMPLETION(Test, test, (MPI_Request * request, int *flag, MPI_Status *status),
           (request, flag, status), request, 1, NULL, *flag != 0)
COMPLETION(Testall, testall, (MANY, int *flag, MPI_Status statuses[]),
           (count, requests, flag, statuses), requests, count, NULL,
           *flag ? count : 0)
COMPLETION(Testany, testany, (MANY, int *index, int *flag, MPI_Status *status),
           (count, requests, index, flag, status), requests, count, index,
           *flag &&IF_ANY)
COMPLETION(Testsome, testsome,
           (MANY, int *done, int indices[], MPI_Status statuses[]),
           (count, requests, done, indices, statuses), requests, count, indices,
           COUNTED(done))

TAKE(Start, (MPI_Request * request), (request),
     iso_event_starts(&call, 1, request))
TAKE(Startall, (MANY), (count, requests),
     iso_event_starts(&call, count, requests))

TAKE_AFTER(Request_free, (MPI_Request * request), (request),
           MPI_Request pending = *request,
           iso_thread_requests(-iso_requests_forget(pending)))

/* --- probing -------------------------------------------------------------- */

TAKE_STATUS(Probe, (FROM, MPI_Status *status), (source, tag, comm, status),
            iso_event_probe(&call, status, comm, NULL))
TAKE_STATUS(Iprobe, (FROM, int *flag, MPI_Status *status),
            (source, tag, comm, flag, status),
            if (*flag) iso_event_probe(&call, status, comm, NULL))
TAKE_STATUS(Mprobe, (FROM, MPI_Message *message, MPI_Status *status),
            (source, tag, comm, message, status),
            iso_event_probe(&call, status, comm, message))
TAKE_STATUS(Improbe,
            (FROM, int *flag, MPI_Message *message, MPI_Status *status),
            (source, tag, comm, flag, message, status),
            if (*flag) iso_event_probe(&call, status, comm, message))
