/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file idle.h
 * How a rank waits that is not being measured: it naps.
 *
 * A rank that spins in a receive or a barrier takes the core, the memory bus
 * or the network port away from the pair that is being measured. A napping
 * rank looks for a message, sleeps a little, and looks again. Sleeps double
 * from 20 us to 1 ms, so the delay stays in proportion to the wait.
 */
#ifndef ISO_IDLE_H
#define ISO_IDLE_H

#include "clock.h"

#include <mpi.h>

/**
 * Nap until a message is there, without receiving it.
 *
 * In a simulator waiting costs nothing and disturbs nobody, so there it is a
 * plain MPI_Probe.
 *
 * @param status  filled as by MPI_Probe
 */
void iso_idle_probe(const iso_clock_t *clock, int source, int tag,
                    MPI_Comm comm, MPI_Status *status);

#endif
