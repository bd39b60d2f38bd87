/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file request.h
 * The operations and grids selected by the options, and their data. Needs no
 * MPI_Init.
 */
#pragma once

#include "experiments/collective/blocks.h"
#include "grid/shape.h"
#include "messages/elements.h"
#include "messages/forms.h"

enum { ISO_MAX_OP_REQUESTS = 32 };

/** In the order in which they were named. */
typedef struct {
    const iso_operation_t *operations[ISO_MAX_OP_REQUESTS];
    iso_grid_t grids[ISO_MAX_OP_REQUESTS];
    int operation_count;
    int grid_count; /**< 0: only the library's own realisation */
    bool forms[ISO_FORMS];
    const char *element, *reduction; /**< words of messages/elements.h */
    bool in_place;
    iso_block_rules_t blocks;
} iso_op_request_t;

/**
 * Read --op, --grid and --form; the other members are set already. "all" are
 * the operations that work with these; with grids each is named once.
 *
 * @param grids  NULL if there are none
 * @return 0, or -1 with one line in @a error
 */
int iso_op_request_parse(const char *operations, const char *grids,
                         const char *forms, iso_op_request_t *request,
                         char *error);

/** Whether --form names one that is not blocking. */
bool iso_op_request_has_other_forms(const iso_op_request_t *request);

/** The element of an operation: bytes cannot be reduced, doubles can. */
const iso_element_t *iso_op_request_element(const iso_op_request_t *request,
                                            const iso_operation_t *operation);

/** The size of whole elements, bytes; the largest of all operations. */
int iso_op_request_quantum(const iso_op_request_t *request);
