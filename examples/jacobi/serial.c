/* SPDX-License-Identifier: BSD-3-Clause */
#include "serial.h"

#include "allocate.h"
#include "system.h"

#include <stdlib.h>
#include <string.h>

void iterate_serially(long n, long iterations, double *x)
{
    double *a = allocate(n * n), *b = allocate(n), *new = allocate(n);
    for (long i = 0; i < n; i++) {
        b[i] = right_side(n, i);
        for (long j = 0; j < n; j++) {
            a[i * n + j] = element(n, i, j);
        }
    }
    for (long k = 0; k < iterations; k++) {
        for (long i = 0; i < n; i++) {
            double sum = 0;
            for (long j = 0; j < n; j++) {
                sum += a[i * n + j] * x[j];
            }
            new[i] = (b[i] - sum) / DIAGONAL;
        }
        memcpy(x, new, (size_t)n * sizeof(double));
    }
    free(new);
    free(b);
    free(a);
}
