/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file io_writing.h
 * The run file of collective I/O, written by rank 0 from what all ranks send.
 */
#pragma once

#include "io_recorder/io_recorder.h"

/** Write what was recorded. Collective over MPI_COMM_WORLD. */
void iso_io_writing(const iso_io_recording_t *recording);
