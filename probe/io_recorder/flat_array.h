/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file flat_array.h
 * The parts of arrays that MPI_Type_create_subarray and
 * MPI_Type_create_darray describe, as pieces.
 */
#ifndef ISO_FLAT_ARRAY_H
#define ISO_FLAT_ARRAY_H

#include "io_recorder/pieces.h"

/** The arguments of the datatype, as MPI_Type_get_contents gives them. */
typedef struct iso_array {
    int dimensions, order;
    const int64_t *sizes;
    const int64_t *parts, *starts;    /**< of a subarray, else NULL */
    int rank;                         /**< among the processes of a darray */
    const int64_t *kinds, *arguments; /**< how its dimensions are cut */
    const int64_t *processes;
} iso_array_t;

/** Add the pieces of a part of an array of elements of this extent. */
void iso_array_flatten(const iso_array_t *array, const iso_pieces_t *element,
                       int64_t extent, iso_pieces_t *list);

#endif
