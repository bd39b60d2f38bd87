/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file clock_set.h
 * Detects a clock that was set during the run: it is compared with the
 * monotonic clock at the beginning and the end. The run file holds a warning.
 */
#pragma once

#include "experiment.h"

/** Note what both clocks say; ctx->started is known. */
void iso_clock_set_begin(void);

/** Compare, on all ranks; rank 0 writes the warning, if there is reason to. */
void iso_clock_set_warn(const iso_context_t *ctx);
