/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file clocks.h
 * The clock of rank 0 at every rank. MPI_Wtime of each rank may count from its
 * own MPI_Init. Ranks of a host compare it with the clock of the host, and the
 * first of them compares with rank 0, when the program begins and when it ends.
 * Between these, the offset is on a straight line.
 */
#pragma once

#include <mpi.h>

typedef struct {
    double own;     /**< reading of the own clock */
    double seconds; /**< clock of rank 0 minus own clock */
} iso_offset_at_t;

/** Comparisons when the program begins and when it ends. */
typedef struct {
    iso_offset_at_t first, last;
} iso_clocks_t;

/** Compare. Collective over MPI_COMM_WORLD. */
iso_offset_at_t iso_clocks_compare(void);

/** Change a reading of the own clock to one of rank 0; 0 is no reading. */
void iso_clocks_translate(const iso_clocks_t *clocks, double *time);
