/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file two_phase.h
 * The data exchange of two-phase collective I/O, without the file.
 *
 * As ROMIO's generic driver does it (ADIOI_Calc_file_domains,
 * ADIOI_Exch_and_write): the file is split evenly, by rounding up, into one
 * domain for each aggregator, in the order of the aggregators. A domain is
 * processed in rounds of cb_buffer_size bytes. In a round every rank that has
 * bytes in the window of an aggregator sends them in one message, itself
 * included; reading is the same the other way round. The aggregator's side of
 * a message is scattered over its window, the rank's side is contiguous.
 */
#pragma once

#include "experiment.h"
#include "experiments/tile_io/tiling.h"

typedef struct {
    int count;        /**< aggregators */
    int *rank;        /**< of each, in the order of the domains */
    long long file;   /**< length of the file */
    long long length; /**< of a domain; the last may be shorter, or empty */
    long long buffer; /**< cb_buffer_size */
    int rounds;
} iso_domains_t;

/** Split a file. @param rank  kept as domains.rank; released by the caller */
iso_domains_t iso_domains_make(long long file, int count, int *rank,
                               long long buffer);

/** One contiguous part of a rank's tile that is in one window. */
typedef struct iso_part {
    int domain, round;
    long long offset; /**< in the file */
    long long at;     /**< in the tile */
    long long length;
} iso_part_t;

/** Call @a take with the parts of a rank's tile, by ascending offset. */
void iso_domains_parts(const iso_domains_t *domains, const iso_tiling_t *tiling,
                       int rank,
                       void (*take)(void *data, const iso_part_t *part),
                       void *data);

/**
 * Count what a rank sends to each aggregator when it writes.
 *
 * @param messages, bytes  one of each for every domain
 */
void iso_domains_count(const iso_domains_t *domains, const iso_tiling_t *tiling,
                       int rank, long *messages, long long *bytes);

typedef struct iso_two_phase iso_two_phase_t;

/** Prepare the messages of this rank. */
iso_two_phase_t *iso_two_phase_create(const iso_context_t *ctx,
                                      const iso_tiling_t *tiling,
                                      const iso_domains_t *domains);
void iso_two_phase_free(iso_two_phase_t *exchange);

/**
 * Exchange once, untimed, and look at every byte that arrives.
 *
 * @return how many bytes are wrong on this rank
 */
long long iso_two_phase_verify(iso_two_phase_t *exchange, bool write);

/** Exchange once. @return elapsed time of this rank, seconds */
double iso_two_phase_measure(iso_two_phase_t *exchange, bool write);
