/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file registry.c
 * The experiment that needs no MPI library.
 */
#include "experiment.h"

extern const iso_experiment_t iso_experiment_synthetic;

const iso_experiment_t *const iso_experiments[] = {&iso_experiment_synthetic,
                                                   NULL};
