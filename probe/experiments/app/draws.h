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
#ifndef ISO_APP_DRAWS_H
#define ISO_APP_DRAWS_H

#include <stdint.h>

/** Which draw: application, rank in it, phase, iteration, number. */
typedef struct iso_draw_key {
    uint64_t app, rank, phase, iteration, number;
} iso_draw_key_t;

static inline uint64_t iso_draw_mix(uint64_t z)
{
    z += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
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

#endif
