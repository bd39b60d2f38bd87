/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file random.h
 * Pseudo-random numbers that are the same on every machine: SplitMix64
 * (G. L. Steele, D. Lea, C. H. Flood, Fast splittable pseudorandom number
 * generators, OOPSLA 2014). The state is one integer, which begins as --seed.
 */
#pragma once

#include <stdint.h>

/** The next 64 bits. */
static inline uint64_t iso_random_next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/** The next whole number from 0 to @a limit - 1. */
int iso_random_below(uint64_t *state, int limit);

/** Fill @a order with 0 to @a count - 1 in random order (Fisher and Yates,
 *  inside out). */
void iso_random_order(int order[], int count, uint64_t *state);

/** The next number between 0 and 1, never one of the two. */
double iso_random_uniform(uint64_t *state);
