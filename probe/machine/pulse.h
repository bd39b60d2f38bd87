/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file pulse.h
 * What a rank lets its watcher see: that it still gets things done, and from
 * whom it waits for an answer.
 *
 * The watcher cannot ask: a rank that hangs in a library answers nobody. So
 * they share a page of memory. A beat is an addition to it, cheap enough to
 * stand between two samples; it never stands within one.
 */
#ifndef ISO_PULSE_H
#define ISO_PULSE_H

#include <stdbool.h>
#include <stddef.h>

/** Share the page; before the fork. Without it, all of this does nothing. */
void iso_pulse_begin(void);

/** Something was done. */
void iso_pulse_beat(void);

/** Rank @a rank was told something, and will answer. */
void iso_pulse_ask(int rank);

/** Rank @a rank has answered. */
void iso_pulse_answer(int rank);

/** Nobody is waited for any more. */
void iso_pulse_rest(void);

/** For the watcher: how often something was done. */
unsigned long iso_pulse_count(void);

/** For the watcher: who has not answered, as "rank 3, 5 and 2 more"; empty if
 *  nobody was asked. */
void iso_pulse_silent(char *text, size_t length);

#endif
