/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file fortran_calls.h
 * How a call of a Fortran program is recorded: it is handed on as it came, and
 * handles and counts are only looked at.
 */
#ifndef ISO_FORTRAN_CALLS_H
#define ISO_FORTRAN_CALLS_H

#include "loaded/fortran.h"
#include "recorder/keeping.h"

#include <stddef.h>

#if defined(OPEN_MPI) && OPEN_MPI
#define LIBRARY(lower) #lower "_"
#define NAMES          ISO_FORTRAN_NAMES
#else
#define LIBRARY(lower)                  #lower "_f08_"
#define NAMES(lower, UPPER, PARAMETERS) ISO_FORTRAN_F08(lower, PARAMETERS)
#endif

#define LIST(...) __VA_ARGS__

/** Define a call under all its names. AFTER is done whether or not it is kept.
 */
#define TAKE(lower, UPPER, PARAMETERS, ARGUMENTS, BEFORE, KEEP)                \
    TAKE_AND(lower, UPPER, PARAMETERS, ARGUMENTS, BEFORE, KEEP, )
#define TAKE_AND(lower, UPPER, PARAMETERS, ARGUMENTS, BEFORE, KEEP, AFTER)     \
    static void lower##_any PARAMETERS                                         \
    {                                                                          \
        static void(*library) PARAMETERS;                                      \
        MPI_Fint own_code = MPI_SUCCESS;                                       \
        code = code ? code : &own_code;                                        \
        if (library == NULL) {                                                 \
            *(void **)&library = iso_fortran_function(LIBRARY(lower));         \
        }                                                                      \
        BEFORE;                                                                \
        iso_call_t call = iso_call_begin();                                    \
        library ARGUMENTS;                                                     \
        if (iso_call_end(&call, (int)*code)) {                                 \
            KEEP;                                                              \
        }                                                                      \
        iso_call_done(&call);                                                  \
        AFTER;                                                                 \
    }                                                                          \
    NAMES(lower, UPPER, PARAMETERS)

#define COMM PMPI_Comm_f2c(*comm)
#define MADE(keep)                                                             \
    MPI_Request made = PMPI_Request_f2c(*request);                             \
    keep
#define CODE MPI_Fint *code

/* --- statuses ------------------------------------------------------------- */

enum { STATUS = 64 }; /* more than the integers of any status */

#if defined(OPEN_MPI) && OPEN_MPI
#define STATUS_TYPE MPI_Fint
static inline bool iso_is_ignored(const MPI_Fint *status)
{
    return status == NULL || status == MPI_F_STATUS_IGNORE;
}

static inline MPI_Status iso_in_c(const MPI_Fint *status)
{
    MPI_Status found;
    PMPI_Status_f2c((MPI_Fint *)status, &found);
    return found;
}
#else
#define STATUS_TYPE void
static inline bool iso_is_ignored(const void *status)
{
    return status == NULL || status == (const void *)MPI_F08_STATUS_IGNORE;
}

static inline MPI_Status iso_in_c(const void *status)
{
    return *(const MPI_Status *)status; /* is the same in mpi_f08 of MPICH */
}
#endif

#define WITH_STATUS                                                            \
    MPI_Fint own_status[STATUS];                                               \
    status = iso_is_ignored(status) ? own_status : status
#define SEEN MPI_Status seen = iso_in_c(status)

#define FROM        MPI_Fint *source, MPI_Fint *tag, MPI_Fint *comm
#define FROM_VALUES source, tag, comm

#define COLLECTIVE(lower, UPPER, PARAMETERS, ARGUMENTS, OP, SIZE, ROOT)        \
    TAKE(lower, UPPER, (LIST PARAMETERS, CODE), (LIST ARGUMENTS, code), ,      \
         iso_keep_collective(&call, OP, ISO_NOW, SIZE, ROOT, COMM, NULL))
#define ICOLLECTIVE(lower, UPPER, PARAMETERS, ARGUMENTS, OP, SIZE, ROOT)       \
    TAKE(lower, UPPER, (LIST PARAMETERS, MPI_Fint * request, CODE),            \
         (LIST ARGUMENTS, request, code), ,                                    \
         MADE(iso_keep_collective(&call, OP, ISO_BEGUN, SIZE, ROOT, COMM,      \
                                  &made)))

#endif
