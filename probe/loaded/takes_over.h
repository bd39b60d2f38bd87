/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file takes_over.h
 * What is visible of a library that is loaded into programs; all else is
 * hidden.
 */
#ifndef ISO_TAKES_OVER_H
#define ISO_TAKES_OVER_H

/** Marks a function that takes the place of one of the MPI library. */
#define ISO_TAKES_OVER __attribute__((visibility("default")))

#endif
