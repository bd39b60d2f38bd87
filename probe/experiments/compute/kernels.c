/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/compute/kernels.h"

/* A loop of a few instructions takes up to 1.4 times as long where it lies
 * badly in memory, which the code around it decides: so it always begins on a
 * line of the cache. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("align-loops=64")
#endif

static size_t shorter(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void dot(const iso_block_t *block)
{
    const double *a = block->a, *x = block->in;
    size_t left = block->elements;
    for (size_t r = 0; left > 0; r++) {
        size_t length = shorter(block->length, left);
        double sum = 0;
        for (size_t k = 0; k < length; k++) {
            sum += a[k] * x[k];
        }
        block->out[r] = sum;
        a += length;
        left -= length;
    }
}

static void axpy(const iso_block_t *block)
{
    const double *a = block->a;
    double *restrict d = block->out;
    size_t left = block->elements;
    for (size_t c = 0; left > 0; c++) {
        size_t length = shorter(block->length, left);
        double x = block->in[c];
        for (size_t k = 0; k < length; k++) {
            d[k] += a[k] * x;
        }
        a += length;
        left -= length;
    }
}

const iso_kernel_t iso_kernels[ISO_KERNELS] = {{"dot", dot}, {"axpy", axpy}};
