/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file fortran.h
 * Fortran names of MPI calls. Up to Open MPI 5, mpif.h, mpi and mpi_f08 differ
 * in names only; in mpi_f08 the error code is optional.
 */
#pragma once

#include "preload/next.h"
#include "preload/wrapper.h"

/** Parameters of these names: Fortran hands over addresses. */
#define ISO_ADDRESSES(...)       ISO_FOR_ALL(ISO_ADDRESS, __VA_ARGS__)
#define ISO_ADDRESS(place, name) MPI_Fint *name

#define ISO_FORTRAN_ALIAS(name, lower, PARAMETERS)                             \
    ISO_WRAPPER void name PARAMETERS __attribute__((alias(#lower "_any")));

/** The name in mpi_f08. */
#define ISO_FORTRAN_F08(lower, PARAMETERS)                                     \
    ISO_FORTRAN_ALIAS(lower##_f08_, lower, PARAMETERS)

#if defined(OPEN_MPI) && OPEN_MPI && OMPI_MAJOR_VERSION >= 6
#define ISO_FORTRAN_ALIAS_F08(lower, PARAMETERS)
#else
#define ISO_FORTRAN_ALIAS_F08(lower, PARAMETERS)                               \
    ISO_FORTRAN_F08(lower, PARAMETERS)
#endif

/** Give a function lower_any all the names that Fortran compilers make. */
#define ISO_FORTRAN_NAMES(lower, UPPER, PARAMETERS)                            \
    ISO_FORTRAN_ALIAS(lower, lower, PARAMETERS)                                \
    ISO_FORTRAN_ALIAS(lower##_, lower, PARAMETERS)                             \
    ISO_FORTRAN_ALIAS(lower##__, lower, PARAMETERS)                            \
    ISO_FORTRAN_ALIAS(UPPER, lower, PARAMETERS)                                \
    ISO_FORTRAN_ALIAS_F08(lower, PARAMETERS)

#if defined(OPEN_MPI) && OPEN_MPI
#define ISO_FORTRAN_LIBRARY(name) "mpi_" #name "_"
#define ISO_FORTRAN_TAKEN         ISO_FORTRAN_NAMES
#else /* of MPICH only mpi_f08 is taken over here */
#define ISO_FORTRAN_LIBRARY(name) "mpi_" #name "_f08_"
#define ISO_FORTRAN_TAKEN(lower, UPPER, PARAMETERS)                            \
    ISO_FORTRAN_F08(lower, PARAMETERS)
#endif

/** Define the beginning and the end of a program. */
#define ISO_FORTRAN_PROGRAM                                                    \
    ISO_FORTRAN_CALL(init, INIT, (code), , ISO_FORTRAN_BEGINS)                 \
    ISO_FORTRAN_CALL(init_thread, INIT_THREAD, (required, provided, code), ,   \
                     ISO_FORTRAN_BEGINS)                                       \
    ISO_FORTRAN_CALL(finalize, FINALIZE, (code), iso_program_ends(), )
#define ISO_FORTRAN_BEGINS                                                     \
    if (*code == MPI_SUCCESS) {                                                \
        iso_program_begins();                                                  \
    }
#define ISO_FORTRAN_CALL(name, NAME, ARGUMENTS, BEFORE, AFTER)                 \
    static void mpi_##name##_any(ISO_ADDRESSES ARGUMENTS)                      \
    {                                                                          \
        void (*library)(ISO_ADDRESSES ARGUMENTS);                              \
        MPI_Fint own_code = MPI_SUCCESS;                                       \
        code = code ? code : &own_code;                                        \
        *(void **)&library = iso_next(ISO_FORTRAN_LIBRARY(name));              \
        BEFORE;                                                                \
        library ARGUMENTS;                                                     \
        AFTER;                                                                 \
    }                                                                          \
    ISO_FORTRAN_TAKEN(mpi_##name, MPI_##NAME, (ISO_ADDRESSES ARGUMENTS))
