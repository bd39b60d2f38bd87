/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file serial.h
 * What the parallel programs are checked with.
 */
#ifndef JACOBI_SERIAL_H
#define JACOBI_SERIAL_H

/** The same iterations by one rank with the whole matrix, one row after the
 *  other. @param x  receives the iterate, n elements */
void iterate_serially(long n, long iterations, double *x);

#endif
