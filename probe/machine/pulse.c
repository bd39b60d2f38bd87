/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "machine/pulse.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* Ranks beyond are watched, but not named. Pages that nobody touches are not
 * there. */
enum { MOST_RANKS = 1 << 22, NAMED = 8 };

typedef struct iso_pulse {
    atomic_ulong beats;
    atomic_uchar asked[MOST_RANKS];
    atomic_int last; /* the highest that was ever asked */
} iso_pulse_t;

static iso_pulse_t *pulse;

void iso_pulse_begin(void)
{
    void *page = mmap(NULL, sizeof(*pulse), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    pulse = page == MAP_FAILED ? NULL : page;
}

void iso_pulse_beat(void)
{
    if (pulse) {
        atomic_fetch_add_explicit(&pulse->beats, 1, memory_order_relaxed);
    }
}

void iso_pulse_ask(int rank)
{
    if (pulse && rank >= 0 && rank < MOST_RANKS) {
        atomic_store_explicit(&pulse->asked[rank], 1, memory_order_relaxed);
        if (rank > atomic_load_explicit(&pulse->last, memory_order_relaxed)) {
            atomic_store_explicit(&pulse->last, rank, memory_order_relaxed);
        }
    }
}

void iso_pulse_answer(int rank)
{
    if (pulse && rank >= 0 && rank < MOST_RANKS) {
        atomic_store_explicit(&pulse->asked[rank], 0, memory_order_relaxed);
    }
    iso_pulse_beat();
}

void iso_pulse_rest(void)
{
    for (int r = 0; pulse && r <= atomic_load(&pulse->last); r++) {
        atomic_store_explicit(&pulse->asked[r], 0, memory_order_relaxed);
    }
    iso_pulse_beat();
}

unsigned long iso_pulse_count(void)
{
    return pulse ? atomic_load_explicit(&pulse->beats, memory_order_relaxed)
                 : 0;
}

void iso_pulse_silent(char *text, size_t length)
{
    int named = 0, more = 0;
    size_t used = 0;
    text[0] = '\0';
    for (int r = 0; pulse && r <= atomic_load(&pulse->last); r++) {
        if (!atomic_load_explicit(&pulse->asked[r], memory_order_relaxed)) {
            continue;
        }
        if (named < NAMED && used < length) {
            used += (size_t)snprintf(text + used, length - used, "%s%d",
                                     named ? ", " : "rank ", r);
            named++;
        } else {
            more++;
        }
    }
    if (more && used < length) {
        snprintf(text + used, length - used, " and %d more", more);
    }
}
