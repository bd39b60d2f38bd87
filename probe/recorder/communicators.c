/* SPDX-License-Identifier: BSD-3-Clause */
#include "recorder/communicators.h"

#include "preload/process.h"
#include "recorder/event.h"
#include "recording/memory.h"

#include <string.h>

enum {
    MOST_GROUPS = 4096, /**< those after count as the last of them */
};

static struct {
    int keyval;
    MPI_Group world_group;
    iso_members_t world;
    iso_group_t *groups;
    int group_count;
} state[ISO_PROCESSES];
#define OWN (state[iso_process()])

static int delete_members(MPI_Comm comm, int key, void *value, void *extra)
{
    iso_members_t *members = value;
    (void)comm, (void)key, (void)extra;
    free(members->world);
    free(members);
    return MPI_SUCCESS;
}

/** Store a group and return its number; takes ownership of the ranks. */
static int number_group(int *ranks, int size)
{
    for (int k = 0; k < OWN.group_count; k++) {
        if (OWN.groups[k].size == size &&
            memcmp(OWN.groups[k].ranks, ranks, (size_t)size * sizeof(*ranks)) ==
                0) {
            free(ranks);
            return k;
        }
    }
    if (OWN.group_count == MOST_GROUPS) {
        free(ranks);
        return MOST_GROUPS - 1;
    }
    OWN.groups = iso_resized(OWN.groups, (size_t)(OWN.group_count + 1) *
                                             sizeof(*OWN.groups));
    OWN.groups[OWN.group_count] = (iso_group_t){size, ranks};
    return OWN.group_count++;
}

/** Translate all ranks of a group to those of the world. */
static int *translate(MPI_Group group, int size)
{
    int *own = iso_zeroed((size_t)size * sizeof(*own));
    int *ranks = iso_resized(NULL, (size_t)size * sizeof(*ranks));
    for (int k = 0; k < size; k++) {
        own[k] = k;
    }
    PMPI_Group_translate_ranks(group, size, own, OWN.world_group, ranks);
    free(own);
    for (int k = 0; k < size; k++) {
        ranks[k] = ranks[k] == MPI_UNDEFINED ? ISO_NONE : ranks[k];
    }
    return ranks;
}

void iso_communicators_begin(void)
{
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_members, &OWN.keyval,
                            NULL);
    PMPI_Comm_group(MPI_COMM_WORLD, &OWN.world_group);
    PMPI_Comm_rank(MPI_COMM_WORLD, &OWN.world.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &OWN.world.size);
    OWN.world.remote = OWN.world.size;
    OWN.world.identity = true;
    number_group(translate(OWN.world_group, OWN.world.size), OWN.world.size);
}

void iso_communicators_end(void)
{
    PMPI_Group_free(&OWN.world_group);
    PMPI_Comm_free_keyval(&OWN.keyval); /* the entry remains, unused */
    for (int k = 0; k < OWN.group_count; k++) {
        free(OWN.groups[k].ranks);
    }
    free(OWN.groups);
    OWN.groups = NULL;
    OWN.group_count = 0;
}

/** Find out who is in a communicator. */
static iso_members_t *examine(MPI_Comm comm)
{
    iso_members_t *members = iso_zeroed(sizeof(*members));
    MPI_Group local = MPI_GROUP_NULL, remote = MPI_GROUP_NULL;
    int inter = 0;
    PMPI_Comm_test_inter(comm, &inter);
    PMPI_Comm_rank(comm, &members->rank);
    PMPI_Comm_size(comm, &members->size);
    PMPI_Comm_group(comm, &local);
    members->inter = inter;
    members->remote = members->size;
    members->group =
        number_group(translate(local, members->size), members->size);
    if (inter) {
        PMPI_Comm_remote_size(comm, &members->remote);
        PMPI_Comm_remote_group(comm, &remote);
        members->world = translate(remote, members->remote);
        PMPI_Group_free(&remote);
    } else {
        members->world = translate(local, members->size);
    }
    PMPI_Group_free(&local);
    return members;
}

const iso_members_t *iso_members(MPI_Comm comm)
{
    void *known = NULL;
    int found = 0;
    if (comm == MPI_COMM_WORLD) {
        return &OWN.world;
    }
    PMPI_Comm_get_attr(comm, OWN.keyval, &known, &found);
    if (!found) {
        known = examine(comm);
        PMPI_Comm_set_attr(comm, OWN.keyval, known);
    }
    return known;
}

int iso_members_world(const iso_members_t *members, int rank)
{
    if (rank < 0 || rank >= members->remote) {
        return ISO_NONE;
    }
    return members->identity ? rank : members->world[rank];
}

const iso_group_t *iso_groups(int *count)
{
    *count = OWN.group_count;
    return OWN.groups;
}
