/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file lives.h
 * Group communicators are made once, and freed with what they were made for.
 */
#ifndef GRID_CHECK_LIVES_H
#define GRID_CHECK_LIVES_H

/** Make, duplicate, use and free so many communicators.
 *  @return how many things were wrong; collective over MPI_COMM_WORLD */
int lives_run(int count);

/** Do that in two threads at once, each with its own communicators. */
int threads_run(int count);

#endif
