/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file draws.h
 * Random numbers that are a function of where they are used.
 *
 * The same as isochrone/applications/description/draws.py, so that a prediction
 * knows what an emulation draws: the finaliser of SplitMix64 (Steele, Lea,
 * Flood, OOPSLA 2014, constants of Stafford's variant 13) over the seed and
 * five numbers that say which draw it is.
 */
#pragma once

#include "base/random.h"

/** Numbers of a draw: application, rank in it, phase, iteration, number. */
enum { ISO_DRAW_NUMBERS = 5 };

/** Which of @a size equally likely values (1 to 2^32) is drawn. */
static inline uint64_t iso_draw_index(uint64_t seed, uint64_t size,
                                      const uint64_t numbers[ISO_DRAW_NUMBERS])
{
    uint64_t z = iso_random_next(&seed);
    for (int k = 0; k < ISO_DRAW_NUMBERS; k++) {
        z ^= numbers[k];
        z = iso_random_next(&z);
    }
    return ((z >> 32) * size) >> 32;
}
