/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file launches.h
 * Who runs when: launch after launch, the ranks of a launch start together and
 * all others nap.
 *
 *     rank 0                                a rank that takes part
 *     tell those who take part              nap until told
 *     collect that they are awake           say so; nap until told when to
 * start tell them when to start               sleep, then spin until that
 * moment play, if it takes part                play all iterations collect that
 * they are done            say so; nap until all are done tell them that all
 * are                reduce their times, hand them in write the results
 */
#ifndef ISO_APP_LAUNCHES_H
#define ISO_APP_LAUNCHES_H

#include "experiments/app/executor.h"
#include "experiments/app/source.h"

/**
 * Run all launches. Collective.
 *
 * @param roles     at rank 0: of all ranks
 * @param executor    of this rank; NULL: it takes part in no application
 * @param time_limit  seconds after which none is begun; 0: no limit
 */
iso_outcome_t iso_launches_run(const iso_context_t *ctx,
                               const iso_program_t *program,
                               const iso_role_t *roles,
                               iso_executor_t *executor, double time_limit);

#endif
