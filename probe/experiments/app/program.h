/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file program.h
 * The program file: the steps of all ranks of the applications.
 *
 * A file is a header, numbers (double), words (int), texts (each ended by a
 * zero byte; together a multiple of 4 bytes) and steps (words), in the byte
 * order of the machine. A text is identified by the index of its first byte
 * among the texts. The words are
 *
 *     placement, number of lists, applications and launches; then
 *     each list of equally likely values, seconds or bytes: first number, count
 *     each application: name, ranks, iterations, background (0 or 1),
 *         count and numbers of the requested ranks of the job,
 *         count and name, method, path (the empty text: none) of its phases,
 *         where the steps of each of its ranks begin, and those of the last end
 *     each launch: repeat, count and applications, ascending
 *
 * and a step is ISO_STEP_WORDS of them and a list, see iso_step_read(). Steps
 * and their random draws are documented in program.py of
 * isochrone/applications/description.
 *
 * What is in the file was checked when it was written; a file that has changed
 * since then has another checksum. Every rank but rank 0 gets what comes
 * before the steps, and the steps of its own.
 */
#pragma once

#include "experiments/app/draws.h"
#include "experiments/app/step.h"

/** Of version 5. */
#define ISO_PROGRAM_MAGIC "iso-app5"

typedef struct {
    char magic[8];
    uint64_t checksum; /**< CRC-32 of all that follows */
    uint64_t seed;
    int64_t numbers, words, letters, steps; /**< how many there are */
} iso_program_header_t;

typedef enum {
    ISO_METHOD_MESSAGE,
    ISO_METHOD_SHARED_MEMORY,
    ISO_METHOD_POSIX_FILE,
    ISO_METHOD_MPI_FILE,
    ISO_METHOD_PUT,
    ISO_METHOD_GET,
} iso_method_t;

/** As they are written. */
extern const char *const iso_method_names[];

typedef enum {
    ISO_PLACE_DISJOINT,
    ISO_PLACE_SHARED_NODES,
    ISO_PLACE_SHARED_CORES,
} iso_placement_t;

/** Equally likely values, seconds or bytes. */
typedef struct {
    const double *items;
    int count;
    double most; /**< the largest of them */
} iso_values_t;

typedef struct {
    const char *name, *path; /**< the path is NULL for methods without a file */
    iso_method_t method;
} iso_app_phase_t;

typedef struct iso_app {
    const char *name;
    int ranks;
    long iterations;
    bool background;
    const int *on; /**< ranks of the job it asks for */
    int on_count;
    iso_app_phase_t *phases;
    int phase_count;
    const int *begin; /**< of the steps of each rank, and their end */
} iso_app_t;

typedef struct {
    long repeat;
    const int *together; /**< applications, ascending */
    int count;
} iso_launch_t;

typedef struct iso_program {
    uint64_t seed;
    iso_placement_t placement;
    iso_values_t *values;
    iso_app_t *apps;
    iso_launch_t *launches;
    int value_count, app_count, launch_count;
    int ranks; /**< of all applications together */
    const double *numbers;
    const char *texts;
    /** Of the requested rank. */
    iso_step_t *steps;
    long step_count;
    void *memory; /**< memory of all pointers */
    int *words;   /**< of the steps */
} iso_program_t;

/** Bytes before the steps. */
size_t iso_program_head(const iso_program_header_t *header);

/**
 * Read all but the steps.
 *
 * @param memory  contents of the file before the steps; owned by the program
 */
void iso_program_load(iso_program_t *program, void *memory);

/** Set the steps of a rank: @a count words of the file. */
void iso_program_take_steps(iso_program_t *program, int *words, int count);

void iso_program_free(iso_program_t *program);

/** Whether an application takes part in a launch. */
/** Numbers as text, "0 4 8"; to be freed. */
char *iso_numbers_text(const int *numbers, int count);

bool iso_launch_has(const iso_launch_t *launch, int app);

/** Draw from equally likely values. */
static inline double iso_program_draw(const iso_program_t *program, int values,
                                      const uint64_t numbers[ISO_DRAW_NUMBERS])
{
    const iso_values_t *from = &program->values[values];
    size_t index = from->count == 1
                       ? 0
                       : iso_draw_index(program->seed, from->count, numbers);
    return from->items[index];
}
