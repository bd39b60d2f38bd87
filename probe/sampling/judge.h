/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file judge.h
 * Precision of the points of a complete sweep.
 */
#pragma once

#include "experiment.h"
#include "sampling/points.h"

/**
 * Judge how well all points are known, and warn where they are not. At rank 0.
 *
 * @param max_points  as the user limited them, for the words of a warning
 */
iso_outcome_t iso_points_judge(const iso_points_t *points,
                               const iso_context_t *ctx, long max_points);
