/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file allocate.h
 * Memory for numbers, or the end of all ranks.
 */
#ifndef JACOBI_ALLOCATE_H
#define JACOBI_ALLOCATE_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Numbers that are 0, from the begin of a page: how fast a processor computes
 *  also depends on how far into their pages two arrays are. */
static inline double *allocate(long count)
{
    const size_t page = 4096;
    size_t pages = (size_t)count * sizeof(double) / page + 1;
    double *memory = aligned_alloc(page, pages * page);
    if (memory == NULL) {
        fprintf(stderr, "jacobi: no memory for %ld numbers\n", count);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memset(memory, 0, pages * page);
}

#endif
