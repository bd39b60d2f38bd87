/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file output.h
 * The run file of a recording, written by rank 0 when the program ends. If it
 * cannot be written, a message says so and the program ends normally.
 */
#pragma once

#include "experiment.h"
#include "runfile/record.h"

typedef struct {
    FILE *stream;     /**< NULL at all ranks but 0 */
    const char *path; /**< NULL if it cannot be written, and goes nowhere */
    iso_record_t record;
    MPI_Comm comm; /**< of all ranks, for what comes together */
    int rank, ranks;
} iso_output_t;

/**
 * Whether an environment variable of rank 0 names a run file. Collective over
 * MPI_COMM_WORLD.
 *
 * @param path  set to a copy of its value at rank 0, else to NULL
 */
bool iso_output_requested(const char *variable, char **path);

/**
 * Open the file, which must not exist, and write its beginning. Collective over
 * MPI_COMM_WORLD.
 *
 * @param kind      of the run, and name of what wrote it
 * @param quantity  what its times are, as of an experiment
 */
void iso_output_begin(iso_output_t *output, const char *path, const char *kind,
                      const char *quantity);

/**
 * Append what each rank wrote into memory to the file, rank after rank, and
 * read the list of each rank. Collective.
 *
 * @param take  called at rank 0 with the list of each rank
 */
void iso_output_collect(iso_output_t *output, const char *text, size_t length,
                        const void *list, size_t bytes, void *self,
                        void (*take)(void *self, int rank, const void *list,
                                     size_t bytes));

/** Write the last record, of a program that took so long and came to its end or
 *  not, and close. Collective. */
void iso_output_end(iso_output_t *output, double seconds, bool complete);

/** Write ranks in ascending order as "0-3 8 10-11"; to be released. */
char *iso_output_ranks(const int *ranks, int count);
