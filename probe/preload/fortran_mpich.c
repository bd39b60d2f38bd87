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

ISO_FORTRAN_PROGRAM

#endif
