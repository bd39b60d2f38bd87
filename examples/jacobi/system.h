/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file system.h
 * The linear system: every rank makes its part of it, and the solution is
 * known.
 */
#ifndef JACOBI_SYSTEM_H
#define JACOBI_SYSTEM_H

#include <stdint.h>

/** A number from -1 to 1 that depends on two numbers (SplitMix64). */
static inline double scattered(uint64_t i, uint64_t j)
{
    uint64_t z = (i << 32 | j) + 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (double)(z >> 11) / 4503599627370496.0 - 1;
}

static const double DIAGONAL = 2;

/** Element off the diagonal; n of them are together less than half of that on
 *  the diagonal, so that the error halves in each iteration, at least. */
static inline double element(long n, long i, long j)
{
    return i == j ? 0 : scattered((uint64_t)i, (uint64_t)j) / (double)n;
}

static inline double solution(long i)
{
    return 1 + (double)(i % 7);
}

static inline double right_side(long n, long i)
{
    double sum = DIAGONAL * solution(i);
    for (long j = 0; j < n; j++) {
        sum += element(n, i, j) * solution(j);
    }
    return sum;
}

#endif
