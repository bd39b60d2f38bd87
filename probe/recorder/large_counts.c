/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file large_counts.c
 * The calls of MPI 4 with counts that are MPI_Count; mpi4py makes no others.
 */
#include <mpi.h>

#if MPI_VERSION >= 4

#define LARGE_COUNTS
#define COUNT         MPI_Count
#define DISPLACEMENT  MPI_Aint
#define CALL(Name)    MPI_##Name##_c
#define LIBRARY(Name) PMPI_##Name##_c

#include "recorder/counted_calls.h"

#endif
