/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file plain.h
 * What the ranks of a communicator agree on, by plain messages.
 *
 * The probe keeps its books with these and never with a collective operation
 * of the library: those are what is measured, and an algorithm of them that is
 * wrong must not reach the books. Rank 0 is the root. All are collective.
 */
#ifndef ISO_PLAIN_H
#define ISO_PLAIN_H

#include <mpi.h>

/** Give the values of rank 0 to all, along a binomial tree. */
void iso_plain_bcast(MPI_Comm comm, void *values, int count, MPI_Datatype type);

/** Collect @a bytes bytes of each rank at rank 0, in the order of ranks. */
void iso_plain_gather(MPI_Comm comm, const void *mine, int bytes, void *all);

/** The same at every rank. @a all has at most INT_MAX bytes. */
void iso_plain_allgather(MPI_Comm comm, const void *mine, int bytes, void *all);

/** Combine the values of all ranks at rank 0, in place; elsewhere they are
 *  lost. @param operation  predefined */
void iso_plain_reduce(MPI_Comm comm, void *values, int count, MPI_Datatype type,
                      MPI_Op operation);

/** The same at every rank. */
void iso_plain_allreduce(MPI_Comm comm, void *values, int count,
                         MPI_Datatype type, MPI_Op operation);

#endif
