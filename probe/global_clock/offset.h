/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file offset.h
 * Two ranks compare their clocks by exchanges:
 *
 *     asking:     before = now; send; receive theirs; after = now
 *     answering:  receive; send now
 *     offset = theirs - (before + after) / 2, not wrong by more than
 *     bound  = (after - before) / 2
 *
 * The exchange with the shortest round trip is taken (F. Cristian,
 * Probabilistic clock synchronization, Distributed Computing 3, 1989). They go
 * on until the shortest has not become shorter for --sync-exchanges exchanges
 * (T. Hoefler, T. Schneider, A. Lumsdaine, Accurately measuring collective
 * operations at massive scale, IPDPS 2008), and until it is at most twice the
 * shortest these two ranks have ever seen: half of the exchanges may have been
 * waiting for a processor. Twenty times as many are the limit.
 *
 * Before that one wakes the other, and they move to different processors if
 * they can (machine/host.h).
 */
#pragma once

#include "experiment.h"
#include "global_clock/drift.h"

/** A clock: MPI_Wtime, bent on purpose, translated by a line. */
typedef struct {
    double since, ahead, fast; /**< shows t + ahead + fast (t - since) */
    const iso_drift_t *line;   /**< translates what it shows; NULL: as it is */
} iso_reading_t;

/** What the clock shows now. */
double iso_reading_now(const iso_reading_t *reading);

/**
 * Compare with @a partner, who calls iso_offset_answer at the same time.
 *
 * @param exchanges  it ends after this many without a shorter one
 * @param shortest   round trip seen before with this partner, or INFINITY
 * @return their clock minus the own one
 */
iso_offset_t iso_offset_ask(const iso_context_t *ctx, int partner,
                            const iso_reading_t *reading, long exchanges,
                            double shortest);

void iso_offset_answer(const iso_context_t *ctx, int partner,
                       const iso_reading_t *reading);
