/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file fortran_mpich.c
 * The beginning and the end of Fortran programs on MPICH with mpi_f08, which
 * calls PMPI_Init. All of mpif.h and mpi, and of mpi_f08 what has a buffer,
 * come to the C functions of a library.
 */
#include <mpi.h>

#if defined(MPICH_VERSION) || defined(I_MPI_VERSION)

#include "preload/fortran.h"
#include "preload/program.h"

ISO_WRAPPER void mpi_init_f08_(MPI_Fint *code)
{
    void *found = iso_fortran_function("mpi_init_f08_");
    MPI_Fint result = MPI_SUCCESS;
    (*(void (**)(MPI_Fint *))&found)(&result);
    if (result == MPI_SUCCESS) {
        iso_program_begins();
    }
    if (code) {
        *code = result;
    }
}

ISO_WRAPPER void mpi_init_thread_f08_(MPI_Fint *required, MPI_Fint *provided,
                                      MPI_Fint *code)
{
    void *found = iso_fortran_function("mpi_init_thread_f08_");
    MPI_Fint result = MPI_SUCCESS;
    (*(void (**)(MPI_Fint *, MPI_Fint *, MPI_Fint *))&found)(required, provided,
                                                             &result);
    if (result == MPI_SUCCESS) {
        iso_program_begins();
    }
    if (code) {
        *code = result;
    }
}

ISO_WRAPPER void mpi_finalize_f08_(MPI_Fint *code)
{
    void *found = iso_fortran_function("mpi_finalize_f08_");
    iso_program_ends();
    (*(void (**)(MPI_Fint *))&found)(code);
}

#endif
