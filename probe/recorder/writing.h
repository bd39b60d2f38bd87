/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file writing.h
 * The run file, written by rank 0 from the data of all ranks.
 */
#pragma once

#include "recorder/recorder.h"

/**
 * Write what was recorded. Collective over MPI_COMM_WORLD. If it cannot be
 * written, rank 0 says so and the program ends as it would have.
 *
 * @param asking  seconds that a call takes before it is recorded
 */
void iso_writing(const iso_recording_t *recording, double asking);
