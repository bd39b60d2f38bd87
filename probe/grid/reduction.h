/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file reduction.h
 * What the operations that reduce share.
 */
#pragma once

#include "grid/blocks.h"
#include "grid/phases.h"

/**
 * As iso_phases_begin. Operations that do not commute are left to the library
 * where the rows are not consecutive ranks.
 *
 * @param buffer  of the data; of the two, the one that is not MPI_IN_PLACE
 * @param many    the buffer has one block for each rank
 */
int iso_reduction_begin(MPI_Comm comm, const iso_grid_t *grid,
                        const void *buffer, int count, MPI_Datatype type,
                        MPI_Op operation, bool many,
                        const iso_arrangement_t **arrangement);
