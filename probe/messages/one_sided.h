/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file one_sided.h
 * Access to the memory of another rank: the timed loop of all one-sided modes.
 *
 * A mode is the call (a row of iso_modes), a synchronisation is a row of
 * iso_epochs: how a rank begins and ends its accesses, and how its partner
 * allows them. In passive synchronisations the partner only waits, inside MPI
 * so that it can make progress:
 *
 *     rank i    begin; W calls; end
 *
 * In active ones (fence, pscw) the partner takes part. A single access is half
 * a round trip, as in OSU's benchmarks; a window goes one way:
 *
 *     W = 1     rank i:  begin; call; end; expose; await
 *               rank j:  expose; await; begin; call; end
 *     W > 1     rank i:  begin; W calls; end         rank j:  expose; await
 *     both ways          expose; begin; W calls; end; await   (both ranks)
 */
#pragma once

#include "messages/modes.h"

typedef struct iso_epoch {
    const char *name;
    const char *completion; /**< what a time includes, in words */
    bool active;            /**< the target takes part */
    /** At the origin: around a loop, and around each window of calls. At the
     *  target of active ones: open and close, too. NULL: nothing to do. */
    void (*open)(iso_transfer_t *t), (*begin)(iso_transfer_t *t);
    void (*end)(iso_transfer_t *t), (*close)(iso_transfer_t *t);
    void (*expose)(iso_transfer_t *t), (*await)(iso_transfer_t *t);
} iso_epoch_t;

/** All synchronisations; the name NULL ends them. */
extern const iso_epoch_t iso_epochs[];

/** Single accesses that follow each other in an operation without a window. */
int iso_one_sided_parts(const iso_mode_t *mode, const iso_epoch_t *epoch);

/**
 * Expose memory to all other ranks. Collective over t->ctx->comm.
 *
 * @param kind  create, allocate, dynamic or shared: how MPI makes the window
 */
void iso_one_sided_expose(iso_transfer_t *t, const char *kind);
void iso_one_sided_withdraw(iso_transfer_t *t);

/** The timed loops of all one-sided modes, with a window and without. */
void iso_one_sided_lead(iso_transfer_t *t, long samples, long batch,
                        double *seconds);
void iso_one_sided_answer(iso_transfer_t *t, long operations);

/** Calls of the modes. Those that compare or fetch a single number do so with
 *  8 bytes. */
void iso_put(iso_transfer_t *t, long w);
void iso_get(iso_transfer_t *t, long w);
void iso_accumulate(iso_transfer_t *t, long w);
void iso_get_accumulate(iso_transfer_t *t, long w);
void iso_fetch_and_op(iso_transfer_t *t, long w);
void iso_compare_and_swap(iso_transfer_t *t, long w);
