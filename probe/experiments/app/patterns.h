/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file patterns.h
 * Steps that serve several ranks in order of arrival: server, farm leader and
 * worker.
 */
#ifndef ISO_APP_PATTERNS_H
#define ISO_APP_PATTERNS_H

#include "experiments/app/executor.h"

/**
 * Answer one request of each client, whoever asks first. A client that asks
 * again before all were served has its turn in the next such step, first.
 */
void iso_pattern_serve(iso_executor_t *executor, const iso_step_t *step,
                       iso_part_t *part);

/**
 * Hand out tasks. A task's number, counted from 1, is the tag of its message;
 * 0 says that none is left.
 */
void iso_pattern_farm(iso_executor_t *executor, const iso_step_t *step,
                      iso_part_t *part);

void iso_pattern_work(iso_executor_t *executor, const iso_step_t *step,
                      iso_part_t *part);

#endif
