/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file tile_record.h
 * What the run file says of collective I/O. All of it is called on all ranks.
 */
#ifndef ISO_TILE_RECORD_H
#define ISO_TILE_RECORD_H

#include "experiment.h"
#include "experiments/tile_io/tile_file.h"
#include "experiments/tile_io/two_phase.h"

/** An "aggregator" record for each domain. @param source  how it is known */
void iso_tile_record_aggregators(const iso_context_t *ctx,
                                 const iso_domains_t *domains,
                                 const char *source);

/** A "message" record for each rank and domain, a "node" record for each. */
void iso_tile_record_messages(const iso_context_t *ctx,
                              const iso_tiling_t *tiling,
                              const iso_domains_t *domains);

/** A "sample" record of an access to the file; times are maxima over ranks. */
void iso_tile_record_access(const iso_context_t *ctx,
                            const iso_tiling_t *tiling, bool write, long repeat,
                            const iso_tile_access_t *access);

/** A "sample" record of an exchange; @a seconds is of this rank. */
void iso_tile_record_exchange(const iso_context_t *ctx,
                              const iso_domains_t *domains, bool write,
                              long repeat, double seconds);

/**
 * A "file-io" record for each rank that really accessed the file, as far as
 * the system can tell.
 *
 * A process's read and write calls count the file and, with some transports,
 * sockets, too. Through sockets goes at most what the rank itself sends, its
 * tile: who has more has accessed the file. If nothing but the file was
 * counted, everybody with a count has.
 *
 * @return at rank 0 how many ranks these are; 0 if it cannot tell
 */
int iso_tile_record_file_io(const iso_context_t *ctx,
                            const iso_tiling_t *tiling, bool write,
                            long long bytes);

#endif
