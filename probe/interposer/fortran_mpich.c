/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file fortran_mpich.c
 * The calls of Fortran programs on MPICH that do not come to the C functions of
 * this library: the beginning and the end with mpi_f08, which calls PMPI_Init.
 * All operations of mpi_f08, and all of mpif.h and mpi, do come there.
 */
#define _GNU_SOURCE
#include <mpi.h>

#if defined(MPICH_VERSION) || defined(I_MPI_VERSION)

#include "interposer/takes_over.h"
#include "interposer/tuning.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/** Find the function of MPICH's Fortran library. */
static void *function(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (found == NULL) {
        fprintf(stderr, "isochrone-grid: MPICH has no %s\n", name);
        abort();
    }
    return found;
}

ISO_TAKES_OVER void mpi_init_f08_(MPI_Fint *code)
{
    void *found = function("mpi_init_f08_");
    MPI_Fint result = MPI_SUCCESS;
    (*(void (**)(MPI_Fint *))&found)(&result);
    if (result == MPI_SUCCESS) {
        iso_tuning_begin();
    }
    if (code) {
        *code = result;
    }
}

ISO_TAKES_OVER void mpi_init_thread_f08_(MPI_Fint *required, MPI_Fint *provided,
                                         MPI_Fint *code)
{
    void *found = function("mpi_init_thread_f08_");
    MPI_Fint result = MPI_SUCCESS;
    (*(void (**)(MPI_Fint *, MPI_Fint *, MPI_Fint *))&found)(required, provided,
                                                             &result);
    if (result == MPI_SUCCESS) {
        iso_tuning_begin();
    }
    if (code) {
        *code = result;
    }
}

ISO_TAKES_OVER void mpi_finalize_f08_(MPI_Fint *code)
{
    void *found = function("mpi_finalize_f08_");
    iso_tuning_end();
    (*(void (**)(MPI_Fint *))&found)(code);
}

#endif
