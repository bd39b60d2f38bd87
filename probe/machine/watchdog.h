/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file watchdog.h
 * Watchdog process of a rank. Launchers report killed ranks badly: MPICH's
 * mpiexec combines the signals of all ranks. So each rank is the child of a
 * watchdog that reports on standard error which rank was killed, where and by
 * which signal, and ends in the same way. If the launcher ends the rank, it
 * ends the watchdog silently. The watchdog also reports when its rank is
 * stopped and continued. That of rank 0 ends it after too long without
 * progress, and reports the ranks that have not answered (heartbeat.h).
 */
#pragma once

/**
 * Become the child of a watchdog, which forwards signals. Before MPI_Init,
 * while there is one thread. Does nothing in a simulator and where fork fails.
 *
 * @param stall  seconds without a beat after which rank 0 is ended; 0: never
 */
void iso_watchdog_begin(int argc, char **argv, double stall);

/** Send the watchdog the rank and host of this process. */
void iso_watchdog_identify(int rank);
