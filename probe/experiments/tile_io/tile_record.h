/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file tile_record.h
 * Records of collective I/O in the run file. All functions are collective.
 */
#pragma once

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
 * A "file-io" record for each rank that really accessed the file, as far as the
 * system reports it.
 *
 * The system counts what a process reads and writes: the file and, with some
 * transports, sockets. A rank sends at most its own tile through sockets, so a
 * rank with a higher count has accessed the file. If all counts together are no
 * more than the file, no sockets were counted, and every rank with a count has
 * accessed the file.
 *
 * @return at rank 0 how many ranks these are; 0 if unknown
 */
int iso_tile_record_file_io(const iso_context_t *ctx,
                            const iso_tiling_t *tiling, bool write,
                            long long bytes);
