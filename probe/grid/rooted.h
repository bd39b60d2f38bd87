/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file rooted.h
 * How gather and scatter begin: every rank has a block, the root also those of
 * all; and what a rank has to do then.
 */
#ifndef ISO_GRID_ROOTED_H
#define ISO_GRID_ROOTED_H

#include "grid/arrangement.h"
#include "grid/blocks.h"

#include <mpi.h>
#include <stdbool.h>

/** A buffer as the caller gives it. */
typedef struct iso_given {
    const void *buffer;
    int count; /**< of a block */
    MPI_Datatype type;
} iso_given_t;

typedef enum iso_part {
    ISO_PART_ROOT,
    ISO_PART_LEADER, /**< of a row that is not the root's */
    ISO_PART_MEMBER, /**< of a row that has another leader */
} iso_part_t;

typedef struct iso_rooted {
    const iso_arrangement_t *arrangement; /**< NULL: the library is to do it */
    iso_part_t part;
    int leader;    /**< of my row, in the row */
    bool in_place; /**< my block is among those of all; at the root only */
    iso_blocks_t own, all; /**< all: at the root */
} iso_rooted_t;

/**
 * Find out what a rank has to do.
 *
 * @param own  the block that every rank has; MPI_IN_PLACE at the root if it is
 *             among all
 * @param all  the blocks of all ranks; looked at by the root only
 * @return an MPI error code, of which the error handler of @a comm knows
 */
int iso_rooted_begin(iso_given_t own, iso_given_t all, int root, MPI_Comm comm,
                     const iso_grid_t *grid, iso_rooted_t *found);

#endif
