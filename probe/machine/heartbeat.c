/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "machine/heartbeat.h"

#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>

/* Higher ranks are watched, but not named. Untouched pages use no memory. */
enum { MOST_RANKS = 1 << 22, NAMED = 8 };

typedef struct {
    atomic_ulong beats;
    atomic_uchar expected[MOST_RANKS];
    atomic_int last; /* the highest rank ever expected */
} iso_heartbeat_t;

static iso_heartbeat_t *shared;

void iso_heartbeat_begin(void)
{
    void *page = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    shared = page == MAP_FAILED ? NULL : page;
}

void iso_heartbeat_beat(void)
{
    if (shared) {
        shared->beats++;
    }
}

void iso_heartbeat_expect(int rank)
{
    if (shared && rank >= 0 && rank < MOST_RANKS) {
        shared->expected[rank] = 1;
        if (rank > shared->last) {
            shared->last = rank;
        }
    }
}

void iso_heartbeat_answered(int rank)
{
    if (shared && rank >= 0 && rank < MOST_RANKS) {
        shared->expected[rank] = 0;
    }
    iso_heartbeat_beat();
}

void iso_heartbeat_clear(void)
{
    for (int r = 0; shared && r <= shared->last; r++) {
        shared->expected[r] = 0;
    }
    iso_heartbeat_beat();
}

unsigned long iso_heartbeat_count(void)
{
    return shared ? shared->beats : 0;
}

void iso_heartbeat_silent(char *text, size_t length)
{
    int named = 0, more = 0;
    size_t used = 0;
    text[0] = '\0';
    for (int r = 0; shared && r <= shared->last; r++) {
        if (!shared->expected[r]) {
            continue;
        }
        if (named < NAMED && used < length) {
            used += snprintf(text + used, length - used, "%s%d",
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
