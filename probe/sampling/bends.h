/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file bends.h
 * Adaptive refinement: a middle that is not on the line between its neighbours
 * is a bend, and the intervals on both sides of it are halved. Knows nothing
 * of MPI.
 */
#pragma once

#include "sampling/points.h"

/** Remember three points to be looked at when they are measured. */
void iso_bends_add(iso_points_t *points, int subject, long long left,
                   long long middle, long long right);

/**
 * Judge the bends as far as they can be, and mark the points of those that
 * have to be measured again (questioned).
 *
 * A middle that is off the line by more than the tolerance is only suspected:
 * its three points were measured at different times. They are measured again
 * together, in as many passes as it takes to see whether it is off in nearly
 * all of them to the same side.
 *
 * @return whether there are such points: visit each, and note the pass
 */
bool iso_bends_question(iso_points_t *points,
                        const iso_refinement_t *refinement);

/** Note what the pass over the questioned points has brought. */
void iso_bends_note(iso_points_t *points);

/**
 * Add points in the intervals on both sides of the real bends, of the largest
 * first. After iso_points_question.
 *
 * @return number of new points; 0 when the curves are known
 */
int iso_bends_refine(iso_points_t *points, const iso_refinement_t *refinement);
