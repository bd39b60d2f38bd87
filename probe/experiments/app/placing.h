/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file placing.h
 * Which ranks of the job are which ranks of the applications.
 *
 * disjoint      each application begins on a node of its own, if there are
 *               enough nodes; else one after the other
 * shared-nodes  on every node, ranks of all applications in proportion
 * shared-cores  the same, and on every node the k-th ranks of all applications
 *               are bound to the same processor, also when they run alone
 *
 * An application that asks for ranks of the job gets these before all others.
 */
#ifndef ISO_APP_PLACING_H
#define ISO_APP_PLACING_H

#include "experiments/app/source.h"

/** At rank 0: give all ranks of the job their roles; to be freed. */
iso_role_t *iso_placing_roles(const iso_context_t *ctx,
                              const iso_program_t *program);

/** At rank 0: write the "app" and "phase" records, and warn if applications
 *  share what they should not, or do not share what they should. */
void iso_placing_record(const iso_context_t *ctx, const iso_program_t *program,
                        const iso_role_t *roles);

/** Bind this rank as the placement says. Collective. */
void iso_placing_bind(const iso_context_t *ctx, const iso_program_t *program,
                      iso_role_t role);

#endif
