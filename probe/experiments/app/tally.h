/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file tally.h
 * Whether what the ranks do fits together: as many receives as sends between
 * two ranks, each client served, each worker led, all ranks of a collective in
 * it. What does not would wait for ever.
 */
#ifndef ISO_APP_TALLY_H
#define ISO_APP_TALLY_H

#include "experiments/app/program.h"

/** One end of something that has two, or one rank's part in a collective. */
typedef struct iso_tally_entry {
    int app, phase;
    int kind;     /**< what has two ends, see tally.c */
    int from, to; /**< of a collective: which, and the rank */
    int count;    /**< +1 or -1; of a collective: ranks it has */
    long line;
} iso_tally_entry_t;

typedef struct iso_tally {
    iso_tally_entry_t *items;
    size_t count, room;
} iso_tally_t;

/** Count a step of rank @a rank of application @a app. */
void iso_tally_add(iso_tally_t *tally, const iso_program_t *program, int app,
                   int rank, const iso_step_t *step, long line);

/** Complain of what does not fit. @return as words.h */
int iso_tally_check(iso_tally_t *tally, const iso_program_t *program,
                    const char *file, char *error);

/**
 * Complain of a phase through shared memory between ranks on different nodes.
 *
 * @param nodes  of each rank of each application
 */
int iso_tally_check_nodes(const iso_tally_t *tally,
                          const iso_program_t *program, int *const *nodes,
                          const char *file, char *error);

#endif
