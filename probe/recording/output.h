/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file output.h
 * The run file of a recording, written by rank 0 when the program ends. If it
 * cannot be written, that is said, and the program ends as it would have.
 */
#ifndef ISO_OUTPUT_H
#define ISO_OUTPUT_H

#include "experiment.h"
#include "runfile/record.h"

#include <stdio.h>

typedef struct iso_output {
    FILE *stream;     /**< NULL at all ranks but 0 */
    const char *path; /**< NULL if it cannot be written, and goes nowhere */
    iso_record_t record;
} iso_output_t;

/**
 * Whether an environment variable of rank 0 names a run file. Collective over
 * MPI_COMM_WORLD.
 *
 * @param path  set to a copy of its value at rank 0, else to NULL
 */
bool iso_output_asked(const char *variable, char **path);

/** Open the file, which must not exist. At rank 0. */
void iso_output_open(iso_output_t *output, const char *path);

/** Write its beginning; places of all ranks come together. Collective. */
void iso_output_begin(iso_output_t *output, const iso_experiment_t *experiment,
                      MPI_Comm comm);

/** Write the last record, of a program that took so long, and close. */
void iso_output_end(iso_output_t *output, double seconds);

/** Write ranks in ascending order as "0-3 8 10-11"; to be released. */
char *iso_output_ranks(const int *ranks, int count);

#endif
