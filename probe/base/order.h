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
