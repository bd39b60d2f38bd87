/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file clock_set.h
 * Whether somebody has set the clock of a rank while it measured: a warning of
 * the run file. Found by comparing it, at the beginning and at the end, with a
 * clock that nobody can set.
 */
#ifndef ISO_CLOCK_SET_H
#define ISO_CLOCK_SET_H

#include "experiment.h"

/** Note what both clocks say; ctx->started is known. */
void iso_clock_set_begin(void);

/** Compare, on all ranks; rank 0 writes the warning, if there is reason to. */
void iso_clock_set_warn(const iso_context_t *ctx);

#endif
