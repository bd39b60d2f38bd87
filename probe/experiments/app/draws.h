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

/** Which draw: application, rank in it, phase, iteration, number. */
typedef struct {
    uint64_t app, rank, phase, iteration, number;
} iso_draw_key_t;

static inline uint64_t iso_draw_mix(uint64_t z)
{
    return iso_random_next(&z);
}

/** Which of @a size equally likely values (1 to 2^32) is drawn. */
static inline uint64_t iso_draw_index(uint64_t seed, uint64_t size,
                                      iso_draw_key_t key)
{
    uint64_t z = iso_draw_mix(seed);
    z = iso_draw_mix(z ^ key.app);
    z = iso_draw_mix(z ^ key.rank);
    z = iso_draw_mix(z ^ key.phase);
    z = iso_draw_mix(z ^ key.iteration);
    z = iso_draw_mix(z ^ key.number);
    return ((z >> 32) * size) >> 32;
}
