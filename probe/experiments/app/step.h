/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file step.h
 * One step of a rank in each iteration.
 */
#pragma once

#include "grid/shape.h"
#include "machine/computation.h"
#include "messages/operations.h"

struct iso_program;
struct iso_app;

typedef enum {
    ISO_STEP_COMPUTE,
    ISO_STEP_SEND,
    ISO_STEP_ISEND,
    ISO_STEP_RECV,
    ISO_STEP_IRECV,
    ISO_STEP_WAIT,
    ISO_STEP_SERVE,
    ISO_STEP_FARM,
    ISO_STEP_WORK,
    ISO_STEP_COLLECTIVE,
    ISO_STEP_REPEAT, /**< the next `length` steps, `tasks` times */
} iso_step_kind_t;

extern const char *const iso_mode_names[];

typedef struct {
    iso_step_kind_t kind;
    int phase;
    int peer;     /**< to, from, master; root of a collective */
    int size;     /**< values: of a message, request, task, block */
    int answer;   /**< values: of a reply, result */
    int time;     /**< values: of a computation */
    int length;   /**< steps that are repeated */
    int every;    /**< of a repeat: only each so many-th time */
    int schedule; /**< values: factors of a computation in turn; -1: none */
    double factor;
    iso_compute_mode_t mode;
    long tasks;
    const int *list; /**< clients, workers; among whom a collective is;
                         of a repeat: its turn, and of how many */
    int count;
    const iso_operation_t *operation;
    iso_grid_t grid;
    bool on_grid;
} iso_step_t;

/** Words of a step before its list. */
enum { ISO_STEP_WORDS = 10 };

/**
 * Read a step: kind, phase, peer, size, answer (of a collective: the text of
 * its operation), time, factor (which number), mode, tasks (of a collective:
 * the text of its grid, or the empty text; of a computation: 1 + its schedule,
 * or 0), length of the list; then the list. A repeat has "every" as its peer,
 * as its time how many of the steps after it are repeated, and as its list the
 * number of its turn in a loop whose turns differ (else 0), and of how many.
 */
iso_step_t iso_step_read(const struct iso_program *program, const int *words);

/** Number of channels of a step: one each way with each partner. */
size_t iso_step_channels(const iso_step_t *step);

/** What it is called among events: "compute", "send", "allgather" ... */
const char *iso_step_name(const iso_step_t *step);

/** Bytes of memory for messages that the steps of a rank need. */
typedef struct {
    double send;     /**< largest message that is sent */
    double receive;  /**< largest that is received, */
    double pending;  /**< and all together that arrive at the same time */
    double arriving; /**< of them by now, before the next wait */
} iso_needs_t;

void iso_needs_add(iso_needs_t *needs, const struct iso_program *program,
                   const struct iso_app *app, const iso_step_t *step);
