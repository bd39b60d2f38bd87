/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file kernels.h
 * What an iteration spends its computing in.
 */
#ifndef JACOBI_KERNELS_H
#define JACOBI_KERNELS_H

/** Scalar products of @a count rows of @a n elements, one after the other, with
 *  @a x; out[r] receives that of row r. */
void multiply_rows(const double *a, long count, long n, const double *x,
                   double *out);

/** Add @a count columns of @a n elements, one after the other, each times its
 *  x[c], to @a d. */
void add_columns(const double *a, long count, long n, const double *x,
                 double *d);

#endif
