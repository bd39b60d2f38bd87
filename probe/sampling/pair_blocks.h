/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file pair_blocks.h
 * The pairs of a latency map as records of a run file: one "pair" record each
 * (format 1), or, of large maps, "pairs" records of many (format 2).
 *
 * A "pairs" record holds the members of up to ISO_BLOCK_PAIRS pairs of one
 * message size as columns in base64: i, j and, where it differs, n as 32-bit
 * unsigned integers, times as 32-bit floating point numbers, all
 * little-endian; those of a direction are 0 where not known. Blocks are
 * numbered, each ends with the CRC-32 of what is before it on the line, and a
 * "blocks" record says how many there were. So records that are missing or
 * altered are noticed.
 */
#pragma once

#include "sampling/sampler.h"

/** Ranks from which on a map is written in format 2. */
enum { ISO_COMPACT_RANKS = 256, ISO_BLOCK_PAIRS = 512 };

/** One pair at one message size. */
typedef struct {
    int i, j;
    iso_summary_t summary;
    double forward, reverse; /**< seconds one way, both above 0 where known */
    long batch;              /**< operations per sample */
    bool shared_cpu, retest;
} iso_pair_record_t;

typedef struct iso_pair_blocks iso_pair_blocks_t;

/** Format of the run file of a map. */
int iso_pair_format(int ranks, bool sampled);

/**
 * @param format  as above
 * @param ways    whether pairs have times of each direction
 */
iso_pair_blocks_t *iso_pair_blocks_open(iso_record_t *record,
                                        const iso_sizes_t *sizes, int format,
                                        bool ways);

/** Write a pair of size number @a size, or keep it for its block. */
void iso_pair_blocks_add(iso_pair_blocks_t *blocks, int size,
                         const iso_pair_record_t *pair);

/** Flush the file; what has been kept for a second is written before. */
void iso_pair_blocks_flush(iso_pair_blocks_t *blocks);

/** Write all that is kept and how many blocks there were; release. */
void iso_pair_blocks_close(iso_pair_blocks_t *blocks);
