/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file time_limit.h
 * --time-limit: duration limit of a run. Samples taken until then are valid.
 */
#pragma once

#include "experiment.h"

/** time-limit, to be listed by every experiment that heeds it. */
extern const iso_option_t iso_time_limit_options[];

/** Seconds that are left, negative if none are; INFINITY without a limit. */
double iso_time_limit_left(const iso_context_t *ctx);

/** Seconds that are left of the first @a part of the limit, likewise. */
double iso_time_limit_left_of(const iso_context_t *ctx, double part);
bool iso_time_limit_over(const iso_context_t *ctx);

/**
 * Warn at rank 0 that the limit has ended the run ("cut-short").
 *
 * @param what  of which @a done of @a total were measured, in the plural
 */
void iso_time_limit_warn(const iso_context_t *ctx, long done, long total,
                         const char *what);

/** Warn at rank 0 that it lowered the repetitions ("repeats-lowered") of some
 *  of all points. */
void iso_time_limit_warn_lowered(const iso_context_t *ctx, long lowered,
                                 long points);
