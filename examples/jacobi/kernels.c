/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernels.h"

/* A loop of a few instructions takes up to 1.4 times as long where it lies
 * badly in memory, which the code around it decides: so it always begins on a
 * line of the cache. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("align-loops=64")
#endif

void multiply_rows(const double *a, long count, long n, const double *x,
                   double *out)
{
    for (long r = 0; r < count; r++) {
        double sum = 0;
        for (long k = 0; k < n; k++) {
            sum += a[k] * x[k];
        }
        out[r] = sum;
        a += n;
    }
}

void add_columns(const double *a, long count, long n, const double *x,
                 double *d)
{
    double *restrict sum = d;
    for (long c = 0; c < count; c++) {
        double factor = x[c];
        for (long k = 0; k < n; k++) {
            sum[k] += a[k] * factor;
        }
        a += n;
    }
}
