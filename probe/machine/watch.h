/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file watch.h
 * A rank that is killed cannot say so, and launchers say it badly: MPICH's
 * mpiexec ors the signals of all ranks and names any process. So each rank is
 * the child of a watcher that sleeps until the rank ends, says on standard
 * error which rank was killed, where and by which signal, and then ends in the
 * same way. The watcher of a rank that the launcher ends is ended with it, and
 * says nothing. It also says when its rank is stopped, and when it goes on; and
 * that of rank 0 ends it if nothing was done for too long, and says who was
 * asked and has not answered (pulse.h).
 */
#ifndef ISO_WATCH_H
#define ISO_WATCH_H

/**
 * Become the child of a watcher, which passes signals on. Before MPI_Init,
 * while there is one thread. Does nothing in a simulator, whose ranks are no
 * processes, and where there can be no other process.
 *
 * @param stall  seconds without a beat after which rank 0 is ended; 0: never
 */
void iso_watch_begin(int argc, char **argv, double stall);

/** Tell the watcher which rank this is, and on which host. */
void iso_watch_tell(int rank);

#endif
