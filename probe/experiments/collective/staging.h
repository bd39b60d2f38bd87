/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file staging.h
 * Collective operations for an MPI that is not GPU-aware: what a rank sends is
 * copied to host memory before the call, and what it receives to the GPU after
 * it.
 */
#pragma once

#include "experiments/collective/subjects.h"
#include "machine/memory.h"

typedef void iso_operate_t(const iso_call_t *call);

/**
 * The function that does a subject: its own call, or the call with copies of
 * so many bytes of these buffers, until another subject is asked for.
 */
iso_operate_t *iso_staging_of(const iso_subject_t *subject,
                              const iso_buffer_t *send, size_t sent,
                              const iso_buffer_t *receive, size_t received);
