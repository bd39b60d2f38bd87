/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file progress_thread.h
 * A thread that lets an operation progress while the rank computes: it calls
 * MPI_Test all the time until the operation is complete. It needs
 * MPI_THREAD_MULTIPLE, and shares the processors of the rank; between
 * operations it sleeps.
 */
#pragma once

#include <mpi.h>

void iso_progress_thread_begin(void);
void iso_progress_thread_end(void);

/** Let it test a request; the rank leaves that alone until the release. */
void iso_progress_thread_take(MPI_Request *request);

/** Return when the thread does not use the request any more. */
void iso_progress_thread_release(void);
