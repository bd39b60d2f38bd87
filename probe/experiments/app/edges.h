/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file edges.h
 * What was sent to whom in the iterations that were asked for: messages between
 * two ranks, collective operations not included. The empty message that tells a
 * worker that no task is left is one; those that announce data which go through
 * memory or a file are counted with these data.
 */
#ifndef ISO_APP_EDGES_H
#define ISO_APP_EDGES_H

#include "experiments/app/player.h"

/** Send rank 0 what this rank has sent. At another rank than 0. */
void iso_edges_hand_in(const iso_player_t *player);

/**
 * At rank 0: get this from all ranks of an application, and write it.
 *
 * @param own        player of rank 0, or NULL
 * @param job_ranks  ranks of the application in the job
 */
void iso_edges_record(const iso_context_t *ctx, const iso_program_t *program,
                      int app, const iso_player_t *own, const int *job_ranks);

#endif
