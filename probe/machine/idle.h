/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file idle.h
 * Waiting of ranks that are not measured: they sleep.
 *
 * A rank that spins in a receive or a barrier takes the core, the memory bus
 * or the network port away from the pair that is being measured. A sleeping
 * rank looks for a message, sleeps a little, and looks again. Sleeps double
 * from 20 us to 1 ms, so the delay stays in proportion to the wait.
 */
#pragma once

#include "machine/clock.h"

/**
 * Receive as MPI_Recv does, and sleep until the message is there.
 *
 * In a simulator this is a plain MPI_Recv: probing would take simulated time.
 */
void iso_idle_recv(const iso_clock_t *clock, void *buffer, int count,
                   MPI_Datatype type, int source, int tag, MPI_Comm comm,
                   MPI_Status *status);
