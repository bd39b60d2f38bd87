/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file preamble.h
 * Records of the run file before the samples: header, environment, positions
 * of ranks and warnings about the whole run.
 */
#pragma once

#include "experiment.h"

/**
 * Write the "run" record, a "rank" record of each rank, and warnings. At rank
 * 0.
 *
 * @param notes  "KEY=VALUE", as given with --note
 */
void iso_preamble_write(const iso_context_t *ctx,
                        const iso_experiment_t *experiment,
                        const char *const notes[], int note_count);
