/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file background.h
 * A background application: repeats until the others of its launch are done.
 *
 * All its ranks must do the same number of iterations, and no rank may wait
 * for a message about it. So rank 0 of the application releases one window of
 * iterations at a time:
 *
 *     begins window w      sends the others the length of window w + 1; 0: w is
 *                          the last
 *     other ranks          have begun to receive this before they begin
 *                          window w, and need it when they end it
 *
 * A window takes 2 ms, and 20 us for each rank, but is at most twice as long
 * as the one before. The end comes at most two windows after the others are
 * done, and ranks are at most a window ahead of rank 0.
 *
 * Each rank of the other applications sends an empty message to rank 0 of
 * every background application when it is done; that rank 0 probes for it once
 * a window. In a simulator, where looking for a message takes simulated time
 * and all ranks live in one process, they count in shared memory instead.
 *
 * A launch of background applications only ends after the requested
 * iterations.
 */
#pragma once

#include "experiments/app/executor.h"

typedef struct {
    const iso_context_t *ctx;
    const iso_program_t *program;
    int *roots;  /**< rank 0 of each application, in the job */
    long *board; /**< in a simulator: ranks that are done, by launch */
} iso_background_t;

/** Prepare. Collective. @param members  at rank 0: ranks of each application */
void iso_background_init(iso_background_t *background, const iso_context_t *ctx,
                         const iso_program_t *program, int *const *members);
void iso_background_free(iso_background_t *background);

/** Whether an application repeats in a launch, until others are done. */
bool iso_background_repeats(const iso_program_t *program, int launch, int app);

/** This rank, of an application that does not repeat, is done. */
void iso_background_tell(const iso_background_t *background, int launch);

/** Repeat. @return when it was over */
double iso_background_execute(const iso_background_t *background, int launch,
                              iso_executor_t *executor, double begin);
