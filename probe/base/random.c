/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/random.h"

int iso_random_below(uint64_t *state, int limit)
{
    return (int)(iso_random_next(state) % (uint64_t)limit);
}

double iso_random_uniform(uint64_t *state)
{
    double two_to_53 = 9007199254740992.0; /* what a double can count to */
    return ((double)(iso_random_next(state) >> 11) + 0.5) / two_to_53;
}

void iso_random_order(int order[], int count, uint64_t *state)
{
    for (int k = 0; k < count; k++) {
        int swapped = iso_random_below(state, k + 1);
        order[k] = order[swapped];
        order[swapped] = k;
    }
}
