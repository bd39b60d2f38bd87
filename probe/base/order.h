/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file order.h
 * Numbers by size.
 */
#pragma once

#include <stdlib.h>

static inline int iso_order(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/** Sort numbers, the smallest first. */
static inline void iso_sort(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), iso_order);
}

/** Quantile of sorted values, linear between neighbours (Hyndman and Fan's
 *  type 7, which numpy uses too). */
static inline double iso_quantile(const double *sorted, long n, double q)
{
    double place = q * (n - 1);
    long below = (long)place;
    long above = below + 1 < n ? below + 1 : below;
    double part = place - below;
    return sorted[below] + part * (sorted[above] - sorted[below]);
}
