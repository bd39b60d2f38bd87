/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file kernels.h
 * Kernels of a Jacobi iteration on one rank's block of the matrix.
 *
 * A block is a number of lines, one after the other, of the same length: the
 * rows or the columns that a rank owns. The last one may be shorter.
 *
 *     dot    y[r] = sum over k of a[r][k] x[k]      the block holds rows
 *     axpy   d[k] = d[k] + a[c][k] x[c]             the block holds columns
 *
 * Both do one multiplication and one addition for each element.
 */
#pragma once

#include <stddef.h>

/** A block and its vectors. */
typedef struct {
    const double *a;  /**< elements, line after line */
    size_t elements;  /**< of the block */
    size_t length;    /**< of a line, at least 1 */
    const double *in; /**< of a line (dot), or one for each line (axpy) */
    double *out;      /**< one for each line (dot), or of a line (axpy) */
} iso_block_t;

/** One of them, by the name the user types. */
typedef struct {
    const char *name;
    void (*work)(const iso_block_t *block);
} iso_kernel_t;

enum { ISO_KERNELS = 2 };

extern const iso_kernel_t iso_kernels[ISO_KERNELS];

/** Arithmetic operations of a block: a multiplication and an addition for each
 *  element. */
static inline double iso_block_operations(const iso_block_t *block)
{
    return 2.0 * (double)block->elements;
}
