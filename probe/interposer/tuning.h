/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file tuning.h
 * The active tuning table, between MPI_Init and MPI_Finalize.
 *
 * The environment of rank 0 of MPI_COMM_WORLD decides: ISOCHRONE_TUNING is the
 * path of the table, without which every call goes straight to the library.
 * ISOCHRONE_TUNING_REDUCTIONS=library uses the library for all reductions.
 */
#pragma once

#include "interposer/table.h"

#include <mpi.h>

/**
 * Choose for a call. All ranks of a communicator come to the same choice,
 * because it rests on what MPI wants to be equal at all of them. A block of
 * 2 GiB and more is left to the library: not every rank may describe it with
 * counts that are integers.
 *
 * @param count, type  of a block, at the side of the call where they count
 * @return its grid, or NULL: the library does it
 */
const iso_grid_t *iso_tuning_choice(iso_tunable_t operation, long long count,
                                    MPI_Datatype type, MPI_Comm comm);

/** The same for operations whose block is described by one pair of arguments at
 *  the root, and by another pair at the other ranks. */
const iso_grid_t *
iso_tuning_rooted(iso_tunable_t operation, long long root_count,
                  MPI_Datatype root_type, long long other_count,
                  MPI_Datatype other_type, int root, MPI_Comm comm);
