/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file intercept.h
 * Interception of a function, after which the next one of its name is called.
 *
 * Calls of MPI-IO are intercepted under both names: the Fortran libraries call
 * PMPI_, and so does all of mpi_f08.
 */
#pragma once

#include "preload/next.h"
#include "preload/wrapper.h"

#include <mpi.h>
#include <stddef.h>

/** Declare `next`, the function behind this one. */
#define ISO_NEXT(Name)                                                         \
    static __typeof__(&Name) next;                                             \
    if (next == NULL) {                                                        \
        *(void **)&next = iso_next(#Name);                                     \
    }

/** Define a function of MPI that has `code` after the statements BEFORE. */
#define ISO_INTERCEPT(Full, PARAMETERS, ARGUMENTS, BEFORE, AFTER)              \
    ISO_WRAPPER int Full PARAMETERS                                            \
    {                                                                          \
        ISO_NEXT(Full)                                                         \
        BEFORE;                                                                \
        int code = next ARGUMENTS;                                             \
        AFTER;                                                                 \
        return code;                                                           \
    }
#define ISO_INTERCEPT_BOTH(Name, ...)                                          \
    ISO_INTERCEPT(MPI_##Name, __VA_ARGS__)                                     \
    ISO_INTERCEPT(PMPI_##Name, __VA_ARGS__)
