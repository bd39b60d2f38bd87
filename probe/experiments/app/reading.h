/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file reading.h
 * A program while it is read, and the lines of it that are not steps.
 */
#ifndef ISO_APP_READING_H
#define ISO_APP_READING_H

#include "experiments/app/program.h"
#include "experiments/app/tally.h"

typedef struct iso_reading {
    iso_program_t *program;
    const iso_program_text_t *text;
    iso_tally_t *tally;
    iso_words_t words;
    int app, rank; /**< whose steps these are; -1: nobody's */
    iso_needs_t needs;
    long room; /**< for kept steps */
    bool titled, ended;
} iso_reading_t;

/** Functions that read the rest of a line return as words.h. */
int iso_read_seed(iso_reading_t *reading);
int iso_read_placement(iso_reading_t *reading);
int iso_read_values(iso_reading_t *reading);
int iso_read_app(iso_reading_t *reading);
int iso_read_on(iso_reading_t *reading);
int iso_read_phase(iso_reading_t *reading);
int iso_read_run(iso_reading_t *reading);

/** Take the index of an application that was declared before. */
int iso_read_app_index(iso_reading_t *reading, int *app);

#endif
