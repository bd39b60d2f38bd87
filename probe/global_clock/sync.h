/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file sync.h
 * The global clock: that of rank 0, modelled by a line on every rank.
 *
 * The ranks form a tree (tree.h). From the root down each rank compares its
 * clock with its parent's (offset.h), adds that offset to the last 32 it has
 * of its parent, fits a line to them (drift.h), and joins it with its parent's
 * line to the global clock. An offset is of two real clocks, so it stays true
 * when lines above it change. (Hierarchy: S. Hunold, A. Carpen-Amarie,
 * Hierarchical clock synchronization in MPI, IEEE CLUSTER 2018. A line a rank:
 * T. Jones, G. A. Koenig, Clock synchronization in high-end computing
 * environments, Concurrency and Computation: Practice and Experience 25,
 * 2013.)
 *
 * Afterwards pairs of ranks at half the job's distance compare their global
 * clocks by separate exchanges: the residual.
 *
 * Ranks that wait sleep. In a simulator all clocks are one and nothing is
 * sent, unless they were bent.
 *
 * All clocks are in seconds. Every rank must call create, refresh and free
 * together.
 */
#pragma once

#include "experiment.h"
#include "runfile/record.h"

typedef struct iso_sync iso_sync_t;

/** --clock-tolerance, --sync-age and --sync-exchanges, and their check. */
extern const iso_option_t iso_sync_options[];
int iso_sync_check(char *error);

/** Build the tree over ctx->control and synchronise for the first time. */
iso_sync_t *iso_sync_create(const iso_context_t *ctx);

/**
 * The same with a clock that is wrong on purpose, so that it is known what
 * should be found.
 *
 * @param ahead  seconds this rank's clock is ahead at the start of the run
 * @param fast   seconds a second it gains; above -1
 */
iso_sync_t *iso_sync_create_bent(const iso_context_t *ctx, double ahead,
                                 double fast);

/** Synchronise again. Earlier offsets stay, so that the drift is followed. */
void iso_sync_refresh(iso_sync_t *sync);

void iso_sync_free(iso_sync_t *sync);

/**
 * At rank 0: whether it is time to refresh, because the error has grown by
 * more than --clock-tolerance since (standard deviation of the least known
 * drift times the age), or the age is beyond --sync-age. Elsewhere false.
 */
bool iso_sync_aged(const iso_sync_t *sync);

/** This rank's clock: iso_now() unless it was bent. */
double iso_sync_now(const iso_sync_t *sync);

/** A reading of this rank's clock as the global clock shows it, and back. */
double iso_sync_global(const iso_sync_t *sync, double local);
double iso_sync_local(const iso_sync_t *sync, double global);

/** Sleep until shortly before a moment of this rank's clock, then watch it. */
void iso_sync_wait(const iso_sync_t *sync, double moment);

/**
 * Compare the global clocks of two ranks: one asks, the other answers.
 *
 * @return the asking rank's clock minus the answering rank's; *bound is how
 *         far that may be wrong
 */
double iso_sync_ask(const iso_sync_t *sync, int partner, double *bound);
void iso_sync_answer(const iso_sync_t *sync, int partner);

/** At rank 0: write a "sync" record about the last synchronisation. */
void iso_sync_record(const iso_sync_t *sync, iso_record_t *record);

/** At rank 0: write a "clock" record of each rank, as it was then. */
void iso_sync_record_clocks(const iso_sync_t *sync, iso_record_t *record);
