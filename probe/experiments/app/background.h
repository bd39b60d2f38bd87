/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file background.h
 * An application that repeats until the others of its launch are done.
 *
 * All its ranks must do the same number of iterations, and nothing that they
 * send each other about it may be waited for. So rank 0 of the application
 * gives leave for one window of iterations after the next:
 *
 *     begins window w      tells the others how long window w + 1 is; 0: w is
 *                          the last
 *     other ranks          have begun to receive this before they begin
 *                          window w, and need it when they end it
 *
 * A window takes 2 ms, and 20 us for each rank, but is at most twice as long as
 * the one before. The end comes at most two windows after the others are done,
 * and ranks are at most a window ahead of rank 0.
 *
 * That the others are done each of their ranks tells rank 0 of every
 * application in the background by an empty message, for which that looks once
 * a window. In a simulator, where looking for a message takes simulated time
 * and all ranks live in one process, they count on a board that all of them
 * see.
 *
 * A launch of background applications only ends after the iterations that are
 * asked for.
 */
#ifndef ISO_APP_BACKGROUND_H
#define ISO_APP_BACKGROUND_H

#include "experiments/app/player.h"

typedef struct iso_background {
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
double iso_background_play(const iso_background_t *background, int launch,
                           iso_player_t *player, double begin);

#endif
