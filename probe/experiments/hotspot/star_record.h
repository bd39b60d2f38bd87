/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file star_record.h
 * Records of hot spots in the run file. Used by rank 0 alone.
 *
 * A sample counts the messages of the hot node as predictions of collective
 * I/O do: intra inside it, in and out between it and other nodes, and
 *
 *     pa = intra / 2        pe = (in + out) / 2
 *
 * which are the paper's numbers of communication pairs where in equals out;
 * and how busy all nodes are: a "star" is about one node, in a "ring" all are.
 */
#pragma once

#include "experiments/hotspot/star.h"

/** A "sample" record; @a batch is written if it is more than 1. */
void iso_star_record_sample(const iso_star_t *star,
                            const iso_star_point_t *point, long repeat,
                            double seconds, int batch);

/** A "role" record for each rank that takes part somewhere. */
void iso_star_record_roles(const iso_star_t *star);

/**
 * An "unreachable" record: these partners of a hot process do not exist.
 *
 * @param hot  requested hot processes
 */
void iso_star_record_unreachable(const iso_star_t *star, long hot, int intra,
                                 int inter);

/** Warnings about the grid: unreachable points, other busy nodes. */
void iso_star_warn(const iso_star_t *star, long unreachable, long points);
