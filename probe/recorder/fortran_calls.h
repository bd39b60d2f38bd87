/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file fortran_calls.h
 * Recording of calls of Fortran programs: passed on unchanged; handles and
 * counts are only read.
 */
#pragma once

#include "preload/fortran.h"
#include "recorder/event_args.h"

#define LIST(...) __VA_ARGS__

/** Define a call under all its names, with parameters of these names and a
 *  code behind them. AFTER is executed whether or not it is recorded. */
#define TAKE(name, NAME, ARGUMENTS, BEFORE, KEEP)                              \
    TAKE_AND(name, NAME, ARGUMENTS, BEFORE, KEEP, )
#define TAKE_AND(name, NAME, ARGUMENTS, BEFORE, KEEP, AFTER)                   \
    static void mpi_##name##_any(ISO_ADDRESSES(LIST ARGUMENTS, code))          \
    {                                                                          \
        static void (*library)(ISO_ADDRESSES(LIST ARGUMENTS, code));           \
        MPI_Fint own_code = MPI_SUCCESS;                                       \
        code = code ? code : &own_code;                                        \
        if (library == NULL) {                                                 \
            *(void **)&library = iso_next(ISO_FORTRAN_LIBRARY(name));          \
        }                                                                      \
        BEFORE;                                                                \
        iso_call_t call = iso_call_begin();                                    \
        library(LIST ARGUMENTS, code);                                         \
        if (iso_call_end(&call, (int)*code)) {                                 \
            KEEP;                                                              \
        }                                                                      \
        iso_call_done(&call);                                                  \
        AFTER;                                                                 \
    }                                                                          \
    ISO_FORTRAN_TAKEN(mpi_##name, MPI_##NAME,                                  \
                      (ISO_ADDRESSES(LIST ARGUMENTS, code)))

#define COMM PMPI_Comm_f2c(*comm)
#define MADE(keep)                                                             \
    MPI_Request made = PMPI_Request_f2c(*request);                             \
    keep

/* --- statuses ------------------------------------------------------------- */

enum { STATUS = 64 }; /* more than the integers of any status */

#if defined(OPEN_MPI) && OPEN_MPI
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
static inline bool iso_is_ignored(const MPI_Fint *status)
{
    return status == NULL || status == (const void *)MPI_F08_STATUS_IGNORE;
}

static inline MPI_Status iso_in_c(const MPI_Fint *status)
{
    return *(const MPI_Status *)(const void *)
        status; /* is the same in mpi_f08 of MPICH */
}
#endif

#define WITH_STATUS                                                            \
    MPI_Fint own_status[STATUS];                                               \
    status = iso_is_ignored(status) ? own_status : status
#define SEEN MPI_Status seen = iso_in_c(status)

#define FROM source, tag, comm

/** A collective operation, blocking and nonblocking. */
#define COLLECTIVE(name, NAME, ARGUMENTS, SIZE, ROOT)                          \
    TAKE(name, NAME, ARGUMENTS, ,                                              \
         iso_event_collective(&call, ISO_OP_##name, ISO_NOW, SIZE, ROOT, COMM, \
                              NULL))                                           \
    TAKE(i##name, I##NAME, (LIST ARGUMENTS, request), ,                        \
         MADE(iso_event_collective(&call, ISO_OP_##name, ISO_BEGUN, SIZE,      \
                                   ROOT, COMM, &made)))
