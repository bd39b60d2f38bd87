/* SPDX-License-Identifier: BSD-3-Clause */
#include "recorder/communicators.h"

#include "preload/process.h"
#include "recorder/event.h"
#include "recording/memory.h"

enum {
    MOST_GROUPS = 4096, /**< those after count as the last of them */
};

static struct {
    int keyval;
    MPI_Group world_group;
    iso_members_t world;
    iso_groups_t groups;
} state[ISO_PROCESSES];
#define OWN (state[iso_process()])

static int delete_members(MPI_Comm comm, int key, void *value, void *extra)
{
    iso_members_t *members = value;
    free(members->world);
    free(members);
    return MPI_SUCCESS;
}

int iso_group_number(iso_groups_t *groups, const int *ranks, int size, int most)
{
    size_t bytes = size * sizeof(*ranks);
    for (int k = 0; k < groups->count; k++) {
        if (groups->list[k].size == size &&
            memcmp(groups->list[k].ranks, ranks, bytes) == 0) {
            return k;
        }
    }
    if (groups->count == most) {
        return most - 1;
    }
    ISO_GROW(groups->list, groups->count, groups->room);
    groups->list[groups->count] =
        (iso_group_t){size, memcpy(iso_resized(NULL, bytes), ranks, bytes)};
    return groups->count++;
}

void iso_groups_free(iso_groups_t *groups)
{
    for (int k = 0; k < groups->count; k++) {
        free(groups->list[k].ranks);
    }
    free(groups->list);
    *groups = (iso_groups_t){0};
}

/** Translate all ranks of a group to those of the world. */
static int *translate(MPI_Group group, int size)
{
    int *own = iso_zeroed(size * sizeof(*own));
    int *ranks = iso_resized(NULL, size * sizeof(*ranks));
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
    int *ranks = translate(OWN.world_group, OWN.world.size);
    iso_group_number(&OWN.groups, ranks, OWN.world.size, MOST_GROUPS);
    free(ranks);
}

void iso_communicators_end(void)
{
    PMPI_Group_free(&OWN.world_group);
    PMPI_Comm_free_keyval(&OWN.keyval); /* the entry remains, unused */
    iso_groups_free(&OWN.groups);
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
    members->world = translate(local, members->size);
    members->group = iso_group_number(&OWN.groups, members->world,
                                      members->size, MOST_GROUPS);
    if (inter) {
        free(members->world);
        PMPI_Comm_remote_size(comm, &members->remote);
        PMPI_Comm_remote_group(comm, &remote);
        members->world = translate(remote, members->remote);
        PMPI_Group_free(&remote);
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

const iso_groups_t *iso_groups(void)
{
    return &OWN.groups;
}
