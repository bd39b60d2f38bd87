/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file experiment.h
 * What an experiment is. One file in experiments/ is one experiment: the file
 * point_to_point.c defines iso_experiment_point_to_point, which the user calls
 * point-to-point. If it needs more files, it is a folder: latency_map/ with
 * latency_map.c and others. Nothing else needs to be edited to add one, and a
 * sweep over message sizes takes little more than its timed loop: see
 * sampling/sweep.h.
 *
 * Units: seconds and bytes, everywhere.
 *
 * Roles: run() is called on every rank at the same time. Rank 0 alone holds
 * ctx->record and writes samples to it, as early as they are known, and
 * flushes; it must not store data that grows with the number of pairs.
 *
 * Failure: an experiment ends all ranks with ISO_FAIL or MPI_CHECK (check.h);
 * what was flushed stays readable.
 */
#pragma once

#include "base/options.h"
#include "machine/beginning.h"
#include "machine/clock.h"
#include "machine/host.h"
#include "machine/memory.h"
#include "machine/subset_barrier.h"

struct iso_record; /* runfile/record.h */

/** What an experiment works with. */
typedef struct {
    MPI_Comm comm;              /**< for the data of the experiment */
    MPI_Comm control;           /**< for agreeing and collecting; same ranks */
    int rank, size;             /**< in both */
    iso_clock_t clock;          /**< as examined at the start */
    struct iso_record *record;  /**< run file at rank 0, NULL elsewhere */
    const iso_place_t *places;  /**< of the ranks in the run file, at rank 0 */
    const iso_memory_t *memory; /**< of messages; GPUs at rank 0 */
    int ranks;     /**< in the run file: size, unless the machine is invented */
    int node;      /**< index of the host of this rank */
    int *node_of;  /**< of each rank, numbered by the first rank of each */
    int nodes;     /**< how many there are */
    bool progress; /**< rank 0 may call iso_progress */
    double started;            /**< iso_now() at the start of the run */
    iso_beginning_t beginning; /**< of this rank */
    const char *const *notes;  /**< of --note, "KEY=VALUE", NULL-terminated */
    bool failed; /**< set by run(), on all ranks: some requested results are
                    wrong and omitted, with a warning; exit code 3 */
} iso_context_t;

/** Return when all ranks have called it. */
static inline void iso_meet(const iso_context_t *ctx)
{
    iso_subset_barrier(ctx->control, NULL, ctx->size, ctx->rank);
}

/** How run() ended; the same value on rank 0 is written into the run file. */
typedef enum {
    ISO_COMPLETE,  /**< complete */
    ISO_CUT_SHORT, /**< ended by a time limit; the written records are valid */
} iso_outcome_t;

/**
 * An experiment. Unused callbacks are NULL. They are called in the order listed
 * here: the first three validate options, resolve derives values from them.
 */
typedef struct {
    const char *name;    /**< as the user types it */
    const char *summary; /**< one line for --help */
    /**
     * Kind of result, which selects the reader: "latency-map", "sweep",
     * "hotspot", "tile-io", "clocks" or "emulation".
     */
    const char *kind;
    /**
     * Sweeps: the members of a "sample" that identify a curve, such as "i" and
     * "j", NULL-terminated; else NULL.
     */
    const char *const *by;
    /** Tables of options it understands, NULL-terminated. */
    const iso_option_t *const *options;
    int min_ranks; /**< fewest ranks it can run on */
    /**
     * Check the options for consistency, before MPI is initialised.
     * @return 0, or -1 with one line in @a error
     */
    int (*check)(char *error);
    /**
     * Check the options against the number of ranks, before anything is
     * measured; if possible before MPI is initialised.
     * @return 0, or -1 with one line in @a error
     */
    int (*check_ranks)(int ranks, char *error);
    /**
     * Check the options against the number of ranks and how many of them are on
     * this node, before anything is measured.
     * @return 0, or -1 with one line in @a error
     */
    int (*check_node)(int ranks, int here, char *error);
    /** Derive values from checked options and the number of ranks. */
    void (*resolve)(int ranks);
    /** Threads of a rank, at most, that call MPI at the same time, which the
     * library then has to allow (MPI_THREAD_MULTIPLE); 0 or NULL: only one ever
     * calls it. */
    int (*threads)(void);
    /** Bytes of memory that one of @a ranks ranks needs. */
    double (*memory)(int ranks);
    /**
     * Describe a synthetic machine instead of the real one. Called at rank 0.
     * The run file marks the times of such an experiment as synthetic.
     * @return *ranks places, released by free; NULL: take the real machine
     */
    iso_place_t *(*invent)(int *ranks);
    /** Format of the run file of so many ranks; 1 where this is NULL. */
    int (*format)(int ranks);
    /** What the seconds of a sample are, in a few words; or a function that
     * says it where that follows from the options. */
    const char *quantity_text;
    const char *(*quantity)(void);
    /** Measure; see the roles above. */
    iso_outcome_t (*run)(iso_context_t *ctx);
    /** Record that MPI_Finalize took so many seconds; at rank 0, after it. */
    void (*finalized)(struct iso_record *record, int ranks, double seconds);
} iso_experiment_t;

/** All experiments, NULL-terminated; generated from the files. */
extern const iso_experiment_t *const iso_experiments[];

/**
 * Say how far the run is, on standard error, at most a few times a second.
 *
 * @param done, total  in steps of the experiment's own
 * @param estimate     the latest value, seconds
 */
void iso_progress(const iso_context_t *ctx, long done, long total,
                  double estimate);
