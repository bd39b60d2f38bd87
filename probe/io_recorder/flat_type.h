/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file flat_type.h
 * The bytes of a datatype as pieces, whatever it was made of.
 */
#pragma once

#include "io_recorder/pieces.h"

#include <mpi.h>

/** Bytes of a datatype, without its gaps. */
int64_t iso_type_size(MPI_Datatype type);

/** From a datatype to the next one behind it. */
int64_t iso_type_extent(MPI_Datatype type);

/**
 * Add the pieces of a datatype, in the order of its typemap, and end the list.
 *
 * @return whether it is of a kind that is known
 */
bool iso_type_flatten(MPI_Datatype type, iso_pieces_t *list);
