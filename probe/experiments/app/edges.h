/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file edges.h
 * Bytes and messages sent between each two ranks in the requested iterations,
 * without collective operations. The empty message that ends a worker counts;
 * messages that announce data in memory or a file are counted with these data.
 */
#pragma once

#include "experiments/app/executor.h"

/** Send the totals of this rank to rank 0. At ranks other than 0. */
void iso_edges_hand_in(const iso_executor_t *executor);

/**
 * At rank 0: collect the totals of all ranks of an application, and write them.
 *
 * @param own        executor of rank 0, or NULL
 * @param job_ranks  ranks of the application in the job
 */
void iso_edges_record(const iso_context_t *ctx, const iso_program_t *program,
                      int app, const iso_executor_t *own, const int *job_ranks);
