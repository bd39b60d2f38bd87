/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file layout.h
 * Which rank is where in a grid; without any communicator.
 */
#ifndef ISO_GRID_LAYOUT_H
#define ISO_GRID_LAYOUT_H

#include "grid/arrangement.h"

/**
 * Fill in who is where from the row of each rank.
 *
 * @param row_of  shape (size); rows are numbered from 0 in the order in which
 *                ranks meet new ones. Becomes the arrangement's.
 * @param memory  filled with what is to be freed with the arrangement, beside
 *                @a row_of
 * @return false if there is no memory
 */
bool iso_layout_fill(iso_arrangement_t *arrangement, const int *row_of,
                     int **memory);

#endif
