/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file launches.h
 * Launch after launch: its ranks start together, all others sleep.
 *
 *     rank 0                             a rank that takes part
 *     dispatch to those who take part    sleep until called
 *     collect that they are awake        report; sleep until the start time
 *     send the start time                sleep, then spin until that moment
 *     execute, if it takes part          execute all iterations
 *     collect that they are done         report; sleep until all are done
 *     release them                       reduce the times, hand them in
 *     write the results
 */
#pragma once

#include "experiments/app/executor.h"
#include "experiments/app/source.h"

/**
 * Run all launches. Collective.
 *
 * @param roles       at rank 0: of all ranks
 * @param members     at rank 0: ranks of each application in the job
 * @param executor    of this rank; NULL: it takes part in no application
 * @param time_limit  seconds after which none is begun; 0: no limit
 */
iso_outcome_t iso_launches_run(const iso_context_t *ctx,
                               const iso_program_t *program,
                               const iso_role_t *roles, int *const *members,
                               iso_executor_t *executor, double time_limit);
