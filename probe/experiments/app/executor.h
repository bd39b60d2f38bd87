/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file executor.h
 * Executes the steps of one rank of an application and records their times.
 *
 * Everything is allocated before the first iteration.
 */
#pragma once

#include "experiment.h"
#include "experiments/app/program.h"

enum { ISO_MAX_STORED = 1000000, ISO_MAX_EVENTS = 4096 };

/** Statistics of one launch on a rank. Seconds. */
typedef struct {
    double begin, end; /**< of its first and last iteration, own clock */
    double computing;  /**< elapsed time of all computations */
    double requested, delivered;
    long iterations;
    double *phases; /**< time in each */
    double *each;   /**< of each iteration, the first ISO_MAX_STORED of them */
    long room, switches;
} iso_stats_t;

typedef struct {
    const iso_step_t *step;
    double begin, end; /**< own clock */
} iso_event_t;

/** Timeline of one iteration of a rank. Sends and receives that are only begun
 *  are one event as long as nothing else happens. At most ISO_MAX_EVENTS are
 *  recorded. */
typedef struct {
    iso_event_t *events;
    int count, room;
    long iteration; /**< recorded iteration; -1: none */
} iso_timeline_t;

/** Messages of one step between this rank and one other, in one direction. */
typedef struct {
    int peer; /**< rank of the application */
    int phase;
    int number; /**< how many messages of this phase and iteration went the
                     same way before it */
    bool out;
    long long messages, bytes; /**< sent so far in this stats */
    /* Of data that do not travel in the message, see stores.h: */
    double most;       /**< bytes */
    long long place;   /**< in the receiver's memory, or in the file */
    char *memory;      /**< the same as an address; NULL: a file */
    bool taken;        /**< out: the receiver has not released the area */
    MPI_Request freed; /**< receives the release */
} iso_channel_t;

/** A pending message. */
typedef struct {
    iso_channel_t *channel;
    char *into; /**< NULL: it is sent */
    int bytes;
} iso_begun_t;

struct iso_stores; /* stores.h */

/** Buffers and requests of a step, in addition to the program. */
typedef struct iso_part {
    /** Serve: of requests, then of replies. Farm: of tasks, then of results.
     *  Work: of tasks, of results. Else one or none. */
    iso_channel_t *channels;
    int *place;     /**< serve, farm: of a rank in the list, or -1 */
    long *served;   /**< serve: when each client was served last */
    long *given;    /**< farm: the task that each worker has */
    int *early;     /**< serve: requests that came before their turn */
    MPI_Comm comm;  /**< of a collective */
    bool owns_comm; /**< no earlier step has it, too */
    int root;       /**< in it */
} iso_part_t;

typedef struct {
    const iso_context_t *ctx;
    const iso_program_t *program; /**< with the steps of this rank */
    const iso_app_t *own;
    int app, rank;
    MPI_Comm comm;  /**< of the application */
    MPI_Comm tasks; /**< the same for tasks, whose tags are their numbers */
    iso_part_t *parts;
    iso_channel_t *channels;
    iso_channel_t **sorted; /**< by phase, direction, peer, number */
    size_t channel_count;
    struct iso_stores *stores;
    char *send, *receive, *pending;
    size_t arriving; /**< reserved bytes of pending */
    MPI_Request *requests;
    iso_begun_t *begun; /**< channel of each request */
    int begun_count;
    int **early;    /**< by phase; NULL: nobody is served */
    long serial;    /**< of serve steps so far */
    long iteration; /**< how often the step was reached before */
    long outer;     /**< iteration of the application */
    bool rehearsal; /**< nothing is computed, drawn messages are sent */
    iso_stats_t stats;
    iso_timeline_t timeline;
} iso_executor_t;

/**
 * Prepare a rank. Collective over @a comm.
 *
 * @param comm  of the application; the executor owns it from now on
 */
void iso_executor_init(iso_executor_t *executor, const iso_context_t *ctx,
                       const iso_program_t *program, int app, MPI_Comm comm);
void iso_executor_free(iso_executor_t *executor);

/**
 * Execute the first iteration without computing, to set up connections before
 * timing. All ranks of the application.
 */
void iso_executor_rehearse(iso_executor_t *executor);

/** Begin a launch: reset all state. */
void iso_executor_begin(iso_executor_t *executor, double now);

/** The end of the launch. */
void iso_executor_end(iso_executor_t *executor, double now);

/** Execute one iteration. @return its end time */
double iso_execute(iso_executor_t *executor, long iteration, double begin);

/** Bytes of the message of a channel in this iteration. */
int iso_executor_bytes(const iso_executor_t *executor, int values, int sender,
                       const iso_channel_t *channel);

/** The same, with an addend for the last part of the key. */
int iso_executor_draw(const iso_executor_t *executor, int values, int rank,
                      int phase, uint64_t number);

/** Compute a time drawn by (app, rank, phase, iteration, number). */
void iso_executor_compute(iso_executor_t *executor, const iso_step_t *step,
                          int rank, uint64_t number);
