/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file requests.h
 * Nonblocking accesses to files, from their start until a call of the program
 * completes them.
 */
#pragma once

#include "io_recorder/io_recorder.h"

/** The request of an access that a call may complete. */
typedef struct {
    int position; /**< among the requests of the call */
    MPI_Request request;
} iso_awaited_t;

/** A call that waits for requests, or tests them. */
typedef struct {
    iso_awaited_t *list; /**< NULL: none is of a file */
    int count;
    bool nested; /**< in an access: the library waits */
    double begin;
} iso_completion_t;

/** An access was started. */
void iso_request_add(MPI_Request request, const iso_started_t *started);

iso_completion_t iso_completion_begin(int count, const MPI_Request *requests);

/** @param requests  MPI_REQUEST_NULL where they were completed */
void iso_completion_end(iso_completion_t *completion,
                        const MPI_Request *requests);
