/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file quality.h
 * Precision of the medians of a run, over all points.
 */
#pragma once

#include "sampling/sampler.h"

typedef struct {
    long points;   /**< that were measured */
    long missed;   /**< of them less precise than --precision asks for */
    long unsteady; /**< of them with a median that is not known to 10 % */
} iso_quality_t;

/** Count one more point. */
void iso_quality_add(iso_quality_t *quality, const iso_summary_t *summary);

/** Warn of points that missed their precision, and of a noisy machine. */
void iso_quality_warn(const iso_quality_t *quality, iso_record_t *record);
