/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file communicators.h
 * World ranks of the members of a communicator. Determined at first use by
 * local calls, and cached as an attribute.
 */
#pragma once

#include <mpi.h>
#include <stdbool.h>

typedef struct {
    int group; /**< number of its group at this rank; 0: all ranks in order */
    int rank, size;
    int remote;    /**< ranks of the group that messages go to, if another */
    bool inter;    /**< an inter-communicator */
    bool identity; /**< the rank that messages go to is that of the world */
    int *world;    /**< ranks of the world, of those that messages go to */
} iso_members_t;

/** A set of ranks of the world in an order. */
typedef struct {
    int size;
    int *ranks;
} iso_group_t;

/** Groups, each once. */
typedef struct {
    iso_group_t *list;
    int count, room;
} iso_groups_t;

/** Return the number of a group, which is copied if it is new; if @a most are
 *  known, it counts as the last of them. */
int iso_group_number(iso_groups_t *groups, const int *ranks, int size,
                     int most);
void iso_groups_free(iso_groups_t *groups);

/** After MPI_Init, and before the attributes of MPI_COMM_WORLD are deleted. */
void iso_communicators_begin(void);
void iso_communicators_end(void);

/** Return the entry of a communicator; not to be released. */
const iso_members_t *iso_members(MPI_Comm comm);

/** Translate a rank that messages go to, or come from; ISO_NONE if it is no
 *  rank of the world. */
int iso_members_world(const iso_members_t *members, int rank);

/** All groups of this rank, in the order of their numbers. */
const iso_groups_t *iso_groups(void);
