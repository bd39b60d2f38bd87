/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file patterns.h
 * Steps that serve several ranks in order of arrival: server, farm leader and
 * worker.
 */
#pragma once

#include "experiments/app/executor.h"

/**
 * Answer one request of each client, in order of arrival. Further requests are
 * first in the next such step.
 */
void iso_pattern_serve(iso_executor_t *executor, const iso_step_t *step,
                       iso_part_t *part);

/**
 * Distribute tasks. A task's number, counted from 1, is the tag of its
 * message; 0 means the end.
 */
void iso_pattern_farm(iso_executor_t *executor, const iso_step_t *step,
                      iso_part_t *part);

void iso_pattern_work(iso_executor_t *executor, const iso_step_t *step,
                      iso_part_t *part);
