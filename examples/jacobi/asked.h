/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file asked.h
 * What the user asks for.
 */
#ifndef JACOBI_ASKED_H
#define JACOBI_ASKED_H

struct asked {
    long n, iterations, repeats;
    int columns; /**< the matrix is spread by columns, not by rows */
    int rows_of_grid, columns_of_grid; /**< 0: the library's own operations */
    int check;
    double t_op; /**< seconds; of a simulation only */
};

extern struct asked asked;

extern const char usage[];

/** Read the command line. @return 0, or -1: it is not understood */
int asked_read(int argc, char **argv);

#endif
