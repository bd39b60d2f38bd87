/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file verified.h
 * Verifies results: each subject is called before timing, and every delivered
 * byte is compared.
 *
 * Test data encode sender, receiver and index in the block; reductions are of
 * small whole numbers, which are exact in any order and type. Two messages
 * between the same neighbours are alike: versions of MPI differ in their order.
 * Three sizes of the sweep are tried, the smallest, the middle and the largest,
 * with blocks cut so that a buffer has at most ISO_VERIFIED_BYTES, or all
 * buffers together ISO_VERIFIED_ALL in a simulation, where all ranks are in one
 * process. The timed buffers are not touched.
 *
 * A wrong operation is reported in a warning, "wrong-result", and omitted
 * together with its phases.
 */
#pragma once

#include "experiments/collective/start.h"
#include "experiments/collective/subjects.h"
#include "machine/memory.h"

enum { ISO_VERIFIED_BYTES = 4 << 20, ISO_VERIFIED_ALL = 256 << 20 };

/**
 * Verify all subjects and take those that are wrong off the list. Collective.
 *
 * @param work_of  returns how the calling rank works in a subject with blocks
 *                 of so many bytes, on the buffers given
 * @return how many operations were taken off, the same on all ranks
 */
int iso_verified(const iso_context_t *ctx, iso_subjects_t *subjects,
                 const iso_op_request_t *request, const iso_sizes_t *sizes,
                 void *self,
                 iso_work_t (*work_of)(void *self, const iso_subject_t *one,
                                       long long bytes,
                                       const iso_buffer_t *send,
                                       const iso_buffer_t *receive));
