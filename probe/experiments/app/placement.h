/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file placement.h
 * Maps ranks of the job to ranks of the applications.
 *
 * disjoint      each application begins on a node of its own, if there are
 *               enough nodes; else one after the other
 * shared-nodes  on every node, ranks of all applications in proportion
 * shared-cores  the same, and on every node the k-th ranks of all applications
 *               are bound to the same processor, also when they run alone
 *
 * Applications that request specific ranks are placed first.
 */
#pragma once

#include "experiments/app/source.h"

/** At rank 0: give all ranks of the job their roles; to be freed. */
iso_role_t *iso_placement_roles(const iso_context_t *ctx,
                                const iso_program_t *program);

/** At rank 0: list the ranks of each application in the job. The lists are one
 *  block of memory: the caller frees the first and the whole. */
int **iso_placement_members(const iso_context_t *ctx,
                            const iso_program_t *program,
                            const iso_role_t *roles);

/** At rank 0: write the "app" and "phase" records, and warn if applications
 * share nodes against the placement, or do not share them. */
void iso_placement_record(const iso_context_t *ctx,
                          const iso_program_t *program, const iso_role_t *roles,
                          int *const *members);

/** Bind this rank according to the placement. Collective. */
void iso_placement_bind(const iso_context_t *ctx, const iso_program_t *program,
                        iso_role_t role);
