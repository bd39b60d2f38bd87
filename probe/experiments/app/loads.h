/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file loads.h
 * Detects other programs on the processors of the ranks.
 */
#pragma once

#include "experiment.h"

/**
 * Warn of each node whose load of the last minute leaves too few processors for
 * its ranks. Collective; to be called before the ranks have been busy.
 */
void iso_loads_warn(const iso_context_t *ctx);
