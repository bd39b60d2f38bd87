/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file takes.h
 * How a function is taken over: the one that would be called without this
 * library is called in its place, so that other tools beside it still work.
 *
 * Calls of MPI-IO are taken over under both of their names: the Fortran
 * libraries call PMPI_, and so does all of mpi_f08.
 */
#ifndef ISO_TAKES_H
#define ISO_TAKES_H

#include "loaded/takes_over.h"

#include <mpi.h>
#include <stddef.h>

/** Return the function of this name behind this library, or end the program. */
void *iso_next(const char *name);

/** Declare `next`, the function behind this one. */
#define ISO_NEXT(Name)                                                         \
    static __typeof__(&Name) next;                                             \
    if (next == NULL) {                                                        \
        *(void **)&next = iso_next(#Name);                                     \
    }

#endif
