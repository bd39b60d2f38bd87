/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file surrounded.h
 * What the run file says of the settings of the MPI library and of the machine
 * around rank 0, and which ranks have others.
 */
#ifndef ISO_SURROUNDED_H
#define ISO_SURROUNDED_H

#include "experiment.h"

/** Whether times are of this machine: not invented, not simulated. */
bool iso_surrounded(const iso_context_t *ctx,
                    const iso_experiment_t *experiment);

/** Write "settings", "memory" and "machine" as members of the header. At rank
 *  0, as all that follows. */
void iso_surrounded_members(const iso_context_t *ctx);

/** Warn of ranks whose settings or nodes are not like those of rank 0. */
void iso_surrounded_warnings(const iso_context_t *ctx);

#endif
