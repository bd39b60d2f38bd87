/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file intercept.h
 * Interception of a function. The next definition in link order is called in
 * its place, so that other tools still work.
 *
 * Calls of MPI-IO are intercepted under both names: the Fortran libraries call
 * PMPI_, and so does all of mpi_f08.
 */
#pragma once

#include "preload/wrapper.h"

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
