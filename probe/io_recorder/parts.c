/* SPDX-License-Identifier: BSD-3-Clause */
#include "io_recorder/parts.h"

#include <math.h>

void iso_slot_sum_add(iso_slot_sum_t *sum, const iso_slot_t *slot)
{
    double through = (double)slot->before + slot->exchange + slot->after;
    if (sum->sync < 0 || slot->sync < sum->sync) {
        sum->sync = slot->sync;
    }
    sum->before = fmax(sum->before, slot->before);
    sum->after = fmax(sum->after, slot->after);
    sum->through = fmax(sum->through, through);
}

/** Take off a part what there is too much of all. */
static void take_off(double *part, double *excess)
{
    double off = fmin(*excess, *part);
    *part -= off;
    *excess -= off;
}

iso_parts_t iso_parts_of(const iso_slot_sum_t *slots, int count, double least,
                         double seconds)
{
    iso_parts_t parts = {.offsets = least};
    for (int k = 0; k < count; k++) {
        double file = fmin(slots[k].before + slots[k].after, slots[k].through);
        parts.counts += fmax(slots[k].sync, 0);
        parts.file += file;
        parts.exchange += slots[k].through - file;
    }
    double excess =
        parts.offsets + parts.counts + parts.exchange + parts.file - seconds;
    if (excess > 0) { /* clocks and ranks that do not leave at the same time */
        take_off(&parts.counts, &excess);
        take_off(&parts.offsets, &excess);
        take_off(&parts.exchange, &excess);
        take_off(&parts.file, &excess);
    }
    return parts;
}
