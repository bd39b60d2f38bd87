/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file heartbeat.h
 * Heartbeat of a rank, shared with its watchdog: its progress, and the ranks
 * whose answers it awaits.
 *
 * A rank that hangs in a library cannot answer, so both share a page of
 * memory. A beat is one addition, between two samples and never within one.
 */
#pragma once

#include <stddef.h>

/** Share the page; before the fork. Without it, all functions do nothing. */
void iso_heartbeat_begin(void);

/** Report progress. */
void iso_heartbeat_beat(void);

/** An answer of rank @a rank is expected. */
void iso_heartbeat_expect(int rank);

/** Rank @a rank has answered. */
void iso_heartbeat_answered(int rank);

/** No answer is expected any more. */
void iso_heartbeat_clear(void);

/** For the watchdog: number of beats. */
unsigned long iso_heartbeat_count(void);

/** For the watchdog: ranks that have not answered, as "rank 3, 5 and 2 more";
 * empty if none is expected. */
void iso_heartbeat_silent(char *text, size_t length);
