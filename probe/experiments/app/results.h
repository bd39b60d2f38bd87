/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file results.h
 * Results of a launch: collected at rank 0, and written.
 */
#pragma once

#include "experiments/app/executor.h"
#include "global_clock/sync.h"

/** Results of an application in a launch, at rank 0. */
typedef struct {
    double *ranks; /**< ISO_RANK_VALUES of each rank, then its phases */
    double *each;  /**< seconds of each iteration of the slowest rank */
    int each_count;
    double begin, end; /**< of its first and its last rank, global clock */
} iso_app_result_t;

/** Results of a rank, all doubles: one MPI type. */
enum {
    ISO_RANK_BEGIN, /**< global clock */
    ISO_RANK_END,
    ISO_RANK_SECONDS,
    ISO_RANK_COMMUNICATION,
    ISO_RANK_ASKED,
    ISO_RANK_DELIVERED,
    ISO_RANK_SWITCHES,
    ISO_RANK_ITERATIONS,
    ISO_RANK_QUANTILES, /**< of its iterations; negative: too few of them */
    ISO_RANK_LAST_QUANTILE = ISO_RANK_QUANTILES + 2,
    ISO_RANK_VALUES, /**< how many there are */
};

/** Send the results of a rank. All ranks of the application, after the
 *  launch; the first of them sends it to rank 0. */
void iso_results_hand_in(iso_executor_t *executor, const iso_sync_t *sync);

/** At rank 0: receive the results of an application whose rank 0 is @a root. */
iso_app_result_t iso_results_get(const iso_context_t *ctx, const iso_app_t *app,
                                 int root);

/** At rank 0: receive what a rank has sent, of any length; to be freed.
 *
 * @param size   of an item
 * @param count  number of items
 */
void *iso_results_receive(const iso_context_t *ctx, int from, int tag,
                          size_t size, int *count);

/** At rank 0: write those of a launch. @param results  by application */
void iso_results_record(const iso_context_t *ctx, const iso_program_t *program,
                        int launch, const iso_app_result_t *results);
