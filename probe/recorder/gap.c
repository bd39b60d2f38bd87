/* SPDX-License-Identifier: BSD-3-Clause */
#include "recorder/gap.h"

#include "recording/memory.h"

#include <math.h>

iso_gap_t iso_gap(double seconds)
{
    return (iso_gap_t){
        .count = 1, .total = seconds, .least = seconds, .most = seconds};
}

int iso_gap_tenth(double seconds)
{
    return (int)floor(10 * log10(seconds > 1e-9 ? seconds : 1e-9));
}

static void add_tenth(iso_gap_t *gap, int tenth, uint32_t count)
{
    for (int k = 0; k < gap->used; k++) {
        if (gap->tenths[k].tenth == tenth) {
            gap->tenths[k].count += count;
            return;
        }
    }
    ISO_GROW(gap->tenths, gap->used, gap->room);
    gap->tenths[gap->used++] = (iso_tenth_t){tenth, count};
}

/** Add gaps of one way. */
static void merge_one(iso_gap_t *gap, const iso_gap_t *other)
{
    if (other->count == 0) {
        return;
    }
    if (gap->count == 1 && gap->used == 0) {
        add_tenth(gap, iso_gap_tenth(gap->total), 1);
    }
    gap->least =
        gap->count && gap->least < other->least ? gap->least : other->least;
    gap->most = gap->most > other->most ? gap->most : other->most;
    gap->count += other->count;
    gap->total += other->total;
    if (other->used == 0) {
        add_tenth(gap, iso_gap_tenth(other->total), 1);
    }
    for (int k = 0; k < other->used; k++) {
        add_tenth(gap, other->tenths[k].tenth, other->tenths[k].count);
    }
}

/** Return the way after this one; an empty one is made if there is none. */
static iso_gap_t *next(iso_gap_t *gap)
{
    if (gap->outer == NULL) {
        gap->outer = iso_zeroed(sizeof(*gap->outer));
    }
    return gap->outer;
}

void iso_gap_merge(iso_gap_t *gap, const iso_gap_t *other)
{
    merge_one(gap, other);
    if (other->outer) {
        iso_gap_merge(next(gap), other->outer);
    }
}

void iso_gap_merge_again(iso_gap_t *gap, const iso_gap_t *other, int level)
{
    iso_gap_t *again = gap;
    for (int k = 0; k < level; k++) {
        again = next(again);
    }
    merge_one(again, other);
    if (other->outer) {
        iso_gap_merge(next(gap), other->outer);
    }
}

void iso_gap_join(iso_gap_t *gap, int level)
{
    for (int k = 1; k < level && gap; k++) {
        gap = gap->outer;
    }
    if (gap == NULL || gap->outer == NULL) {
        return;
    }
    iso_gap_t *gone = gap->outer;
    merge_one(gap, gone);
    gap->outer = gone->outer;
    free(gone->tenths);
    free(gone);
}

void iso_gap_free(iso_gap_t *gap)
{
    free(gap->tenths);
    while (gap->outer) {
        iso_gap_t *gone = gap->outer;
        gap->outer = gone->outer;
        free(gone->tenths);
        free(gone);
    }
}
