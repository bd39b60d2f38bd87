/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file complaints.h
 * Errors reach the caller as the library's own do: the same class, and the
 * error handler hears of them once.
 */
#ifndef GRID_CHECK_COMPLAINTS_H
#define GRID_CHECK_COMPLAINTS_H

/** @return how many went wrong at some rank; collective over MPI_COMM_WORLD */
int complaints_run(void);

#endif
