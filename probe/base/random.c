/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/random.h"

uint64_t iso_random_next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

int iso_random_below(uint64_t *state, int limit)
{
    return (int)(iso_random_next(state) % (uint64_t)limit);
}

double iso_random_uniform(uint64_t *state)
{
    double two_to_53 = 9007199254740992.0; /* what a double can count to */
    return ((double)(iso_random_next(state) >> 11) + 0.5) / two_to_53;
}
