/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file beginning.h
 * How long a rank took to begin and to end MPI.
 */
#pragma once

/** Seconds of this rank. */
typedef struct {
    double launch; /**< from the start of the launcher to main(); negative: not
                      known here */
    double init;   /**< of MPI_Init */
} iso_beginning_t;

/** Seconds since the supervisor has started the launcher. It says the time of
 *  day and its host in the variable ISOCHRONE_LAUNCHED; on other hosts the
 *  clock may be another one. @return negative if not known */
double iso_beginning_since_launch(void);

/**
 * Call MPI_Init, or MPI_Finalize.
 *
 * @param level  NULL, or the support of threads that is needed, and then that
 *               which there is: MPI_Init_thread
 * @return the seconds it took; negative if not known, as of MPI_Finalize in a
 *         simulator
 */
double iso_beginning_init(int *argc, char ***argv, int *level);
double iso_beginning_finalize(void);
