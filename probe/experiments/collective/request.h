/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file request.h
 * The operations and grids selected by the options. Needs no MPI.
 */
#pragma once

#include "grid/shape.h"
#include "messages/forms.h"

enum { ISO_MAX_OP_REQUESTS = 16 };

/** In the order in which they were named. */
typedef struct iso_op_request {
    const iso_operation_t *operations[ISO_MAX_OP_REQUESTS];
    iso_grid_t grids[ISO_MAX_OP_REQUESTS];
    int operation_count;
    int grid_count; /**< 0: only the library's own realisation */
    bool forms[ISO_FORMS];
} iso_op_request_t;

/**
 * Read --op, --grid and --form. With grids, "all" are the operations that have
 * a realisation on one, and each operation and grid is named once.
 *
 * @param grids  NULL if there are none
 * @return 0, or -1 with one line in @a error
 */
int iso_op_request_parse(const char *operations, const char *grids,
                         const char *forms, iso_op_request_t *request,
                         char *error);

/** Whether one of the operations adds doubles. */
bool iso_op_request_reduces(const iso_op_request_t *request);

/** Check the grids against a number of ranks; returns as iso_op_request_parse.
 */
int iso_op_request_check_ranks(const iso_op_request_t *request, int ranks,
                               char *error);
