/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file rank_records.h
 * What the run file says of one rank: "rank_time", an "edge" for each rank that
 * it sent to, and its sequence as "loop" and "call", in the order `at`, with
 * what belongs to a loop at a greater `depth` after it.
 */
#ifndef ISO_RANK_RECORDS_H
#define ISO_RANK_RECORDS_H

#include "recorder/recorder.h"
#include "runfile/record.h"

/**
 * @param groups  numbers of the groups in the file, by their numbers here
 * @param asking  seconds that a call takes before it is recorded
 */
void iso_rank_records(iso_record_t *record, const iso_recording_t *recording,
                      int rank, const int *groups, double asking);

#endif
