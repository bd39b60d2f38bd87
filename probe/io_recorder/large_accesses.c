/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file large_accesses.c
 * Accesses to files of MPI 4 with counts that are MPI_Count.
 */
#include <mpi.h>

#if MPI_VERSION >= 4

#define COUNT         MPI_Count
#define CALL(Name)    MPI_##Name##_c
#define LIBRARY(Name) PMPI_##Name##_c

#include "io_recorder/counted_accesses.h"

#endif
