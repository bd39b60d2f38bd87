/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file asked.h
 * The operations and grids that the options name. Needs no MPI.
 */
#ifndef ISO_ASKED_H
#define ISO_ASKED_H

#include "grid/shape.h"
#include "messages/operations.h"

enum { ISO_MAX_ASKED = 16 };

/** In the order in which they were named. */
typedef struct iso_asked {
    const iso_operation_t *operations[ISO_MAX_ASKED];
    iso_grid_t grids[ISO_MAX_ASKED];
    int operation_count;
    int grid_count; /**< 0: only the library's own realisation */
} iso_asked_t;

/**
 * Read --op and --grid. With grids, "all" are the operations that have a
 * realisation on one, and each operation and grid is named once.
 *
 * @param grids  NULL if there are none
 * @return 0, or -1 with one line in @a error
 */
int iso_asked_parse(const char *operations, const char *grids,
                    iso_asked_t *asked, char *error);

/** Whether one of the operations adds doubles. */
bool iso_asked_reduces(const iso_asked_t *asked);

/** Check the grids against a number of ranks; returns as iso_asked_parse. */
int iso_asked_check_ranks(const iso_asked_t *asked, int ranks, char *error);

#endif
