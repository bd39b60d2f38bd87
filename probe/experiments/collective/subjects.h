/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file subjects.h
 * The subjects of the sweep. Without grids: each operation of the library.
 * With grids, for each operation:
 *
 *     the library's own realisation
 *     for each grid:  the whole operation
 *                     LG and CG separately, the group of rank 0 alone
 *                     LG and CG separately, all groups at once, if there are
 * several
 *
 * A grid of one row or one column has no phases; there the library does all.
 * The phases have rank 0 as their root.
 */
#pragma once

#include "base/sizes.h"
#include "experiments/collective/request.h"
#include "grid/arrangement.h"
#include "grid/collectives.h"

/** One of them. */
typedef struct {
    const iso_operation_t *operation; /**< the whole one */
    iso_form_t form;
    void (*begin)(
        const iso_call_t *call);          /**< of a form that is not blocking */
    const iso_grid_t *grid;               /**< NULL: the library's own */
    const iso_arrangement_t *arranged;    /**< the ranks in the grid */
    const iso_grid_phase_t *phase;        /**< NULL: all of it */
    void (*call)(const iso_call_t *call); /**< of the phase or of the whole */
    int ranks;                            /**< of one call, the most */
    int groups;                           /**< at work */
    bool together;                        /**< all groups, not rank 0's alone */
} iso_subject_t;

typedef struct {
    iso_subject_t *items;
    int count;
    int left_out; /**< index of a grid that does not fit here, or -1 */
    char why[ISO_ERROR_LENGTH]; /**< it does not */
    bool lacks_persistent;      /**< the library has no such form of some */
} iso_subjects_t;

/**
 * List them. Collective over @a comm.
 *
 * @param largest  size, bytes: a grid whose phases would need larger blocks
 *                 than one call takes is left out
 */
void iso_subjects_create(iso_subjects_t *subjects,
                         const iso_op_request_t *request, long long largest,
                         MPI_Comm comm);

/** Block of one call, for an operation with a block of @a bytes. */
long long iso_subject_block(const iso_subject_t *subject, long long bytes);

/** Whether a rank is in a group that works. */
bool iso_subject_works(const iso_subject_t *subject, int rank);

/**
 * Communicators in which the calling rank works, one after the other, each
 * with its root. Several only where it substitutes for missing members of
 * columns. Call with NULL for their number.
 */
int iso_subject_groups(const iso_subject_t *subject, MPI_Comm comm,
                       iso_call_t *calls);

/**
 * Check that the blocks of each phase on each grid can be given to one call,
 * and that no grid leaves them to the library for that. The grid "nodes" is
 * known only where it runs.
 *
 * @return 0, or -1 with one line in @a error
 */
int iso_subjects_check(const iso_op_request_t *request, long long largest,
                       int ranks, char *error);

/** Bytes of memory that a rank needs for blocks of @a bytes, its own buffers
 *  and those of the realisations. */
double iso_subjects_memory(const iso_op_request_t *request, double bytes,
                           int ranks);
