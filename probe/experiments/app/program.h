/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file program.h
 * What the ranks of applications do, as a text that Isochrone writes.
 *
 * One line each, words separated by one blank, a path to the end of its line:
 *
 *     isochrone-program 1
 *     seed 7
 *     placement disjoint | shared-nodes | shared-cores
 *     values INDEX COUNT V V V ...        equally likely; seconds or bytes
 *     app INDEX NAME ranks COUNT iterations N background 0|1
 *     on APP RANK RANK ...                ranks of the job it asks for
 *     phase APP INDEX NAME METHOD [PATH]  message, shared-memory, posix-file,
 *                                         mpi-file
 *     steps APP RANK                      of one iteration, until the next such
 *       compute PHASE VALUES FACTOR cpu|spin|sleep
 *       send PHASE TO VALUES              and isend
 *       recv PHASE FROM VALUES            and irecv
 *       wait PHASE
 *       serve PHASE REQUEST REPLY TIME MODE CLIENT CLIENT ...
 *       farm PHASE TASKS TASK RESULT WORKER WORKER ...
 *       work PHASE MASTER TASK RESULT TIME FACTOR MODE
 *       collective PHASE OP VALUES ROOT GRID|- [RANK RANK ...]
 *     run REPEAT APP APP ...              in the order in which they are done
 *     end
 *
 * Indices count from 0 in the order of the lines; blanks at the begin of a line
 * mean nothing. What the steps mean, and which draw each makes, is said in
 * program.py of isochrone/workloads/applications.
 *
 * The text is from elsewhere: every number is checked, and memory is bounded by
 * a multiple of the text. Rank 0 reads and checks the whole; every other rank
 * gets the lines that are not steps and the steps of its own.
 */
#ifndef ISO_APP_PROGRAM_H
#define ISO_APP_PROGRAM_H

#include "experiments/app/draws.h"
#include "experiments/app/step.h"

#include <stdbool.h>
#include <stddef.h>

struct iso_tally; /* tally.h */

typedef enum iso_method {
    ISO_METHOD_MESSAGE,
    ISO_METHOD_SHARED_MEMORY,
    ISO_METHOD_POSIX_FILE,
    ISO_METHOD_MPI_FILE,
} iso_method_t;

/** As they are written. */
extern const char *const iso_method_names[];

typedef enum iso_placement {
    ISO_PLACE_DISJOINT,
    ISO_PLACE_SHARED_NODES,
    ISO_PLACE_SHARED_CORES,
} iso_placement_t;

/** Equally likely values, seconds or bytes. */
typedef struct iso_values {
    double *items;
    long count;
    double most; /**< the largest of them */
} iso_values_t;

typedef struct iso_app_phase {
    char *name, *path; /**< the path is NULL for methods without a file */
    iso_method_t method;
} iso_app_phase_t;

/** Where the steps of a rank stand in the text. */
typedef struct iso_section {
    const char *begin, *end; /**< NULL: nowhere; without the line "steps" */
} iso_section_t;

typedef struct iso_app {
    char *name;
    int ranks;
    long iterations;
    bool background;
    int *on; /**< ranks of the job it asks for */
    int on_count;
    iso_app_phase_t *phases;
    int phase_count;
    iso_section_t *sections; /**< of each rank */
} iso_app_t;

typedef struct iso_launch {
    long repeat;
    int *together; /**< applications, ascending */
    int count;
} iso_launch_t;

typedef struct iso_program {
    uint64_t seed;
    iso_placement_t placement;
    iso_values_t *values;
    iso_app_t *apps;
    iso_launch_t *launches;
    int value_count, app_count, launch_count;
    int ranks;         /**< of all applications together */
    double most_bytes; /**< that a rank needs for its messages */
    /** Of the rank that was asked for. */
    iso_step_t *steps;
    long step_count;
} iso_program_t;

/** What is read. */
typedef struct iso_program_text {
    const char *file; /**< its name, for complaints */
    const char *text;
    size_t length;
    int app, rank; /**< whose steps are kept; -1: nobody's */
} iso_program_text_t;

/**
 * Read a program.
 *
 * @param tally  NULL, or where steps are counted, to see if they match
 * @return 0, or -1 with "FILE:LINE: what" in @a error; to be freed either way
 */
int iso_program_parse(iso_program_t *program, const iso_program_text_t *text,
                      struct iso_tally *tally, char *error);
void iso_program_free(iso_program_t *program);

/** Whether an application takes part in a launch. */
bool iso_launch_has(const iso_launch_t *launch, int app);

/** Draw from equally likely values. */
static inline double iso_program_draw(const iso_program_t *program, int values,
                                      iso_draw_key_t key)
{
    const iso_values_t *from = &program->values[values];
    if (from->count == 1) {
        return from->items[0];
    }
    return from
        ->items[iso_draw_index(program->seed, (uint64_t)from->count, key)];
}

#endif
