/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file communicator.h
 * What has to be known of a communicator; found out once, kept with it.
 */
#ifndef ISO_COMMUNICATOR_H
#define ISO_COMMUNICATOR_H

#include <mpi.h>

/** Before the others, after MPI_Init. */
void iso_communicator_begin(void);

/** Before MPI_Finalize; nothing is known of communicators from then on. */
void iso_communicator_end(void);

/** Number of nodes that its ranks are on, -1 if that cannot be found out.
 *  Collective when it is asked for the first time. */
int iso_communicator_nodes(MPI_Comm comm);

#endif
