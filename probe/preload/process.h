/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file process.h
 * State of a rank. The ranks that SimGrid simulates share a process, in which
 * each needs a state of its own.
 */
#pragma once

#include <mpi.h>

#ifdef SMPI_H
#include <simgrid/actor.h>

enum { ISO_PROCESSES = 1 << 16 /**< more would share states */ };

static inline long iso_process(void)
{
    return sg_actor_self_get_pid() % ISO_PROCESSES;
}
#else
enum { ISO_PROCESSES = 1 };

static inline long iso_process(void)
{
    return 0;
}
#endif
