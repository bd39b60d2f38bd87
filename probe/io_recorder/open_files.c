/* SPDX-License-Identifier: BSD-3-Clause */
#include "io_recorder/open_files.h"

#include "recording/memory.h"

#include <sys/vfs.h>

/* --- file systems ----------------------------------------------------------
 */

/* Which file system a file is on, by the number that statfs(2) has for it. */

/* linux/magic.h; those of parallel file systems are in their own sources */
static const struct {
    unsigned long magic;
    const char *name;
} known[] = {
    {0x01021994, "tmpfs"},   {0x858458f6, "ramfs"},  {0xef53, "ext"},
    {0x58465342, "xfs"},     {0x9123683e, "btrfs"},  {0x2fc12fc1, "zfs"},
    {0x794c7630, "overlay"}, {0x6969, "nfs"},        {0x0bd00bd0, "lustre"},
    {0x47504653, "gpfs"},    {0x19830326, "beegfs"}, {0x00c36400, "ceph"},
    {0x65735546, "fuse"},
};

/**
 * Return its name (tmpfs, nfs, lustre ...), "other", or "" if it is not known.
 *
 * @param path  as MPI_File_open takes it, perhaps with "ufs:" in front
 */
static const char *filesystem_of(const char *path)
{
    struct statfs found;
    const char *colon = strchr(path, ':');
    if (statfs(path, &found) != 0 &&
        (!colon || statfs(colon + 1, &found) != 0)) {
        return "";
    }
    /* the type of f_type differs between processors; 32 bits hold all */
    unsigned long magic = (unsigned long)found.f_type & 0xffffffffUL;
    for (size_t k = 0; k < ISO_LENGTH(known); k++) {
        if (known[k].magic == magic) {
            return known[k].name;
        }
    }
    return "other";
}

/* --- open files ------------------------------------------------------------
 */

iso_open_id_t iso_open_files_agree(iso_open_files_t *files, MPI_Comm comm)
{
    int rank = 0;
    iso_open_id_t id = {0, 0};
    PMPI_Comm_rank(comm, &rank);
    if (rank == 0) {
        PMPI_Comm_rank(MPI_COMM_WORLD, &id.leader);
        id.number = files->led++;
    }
    PMPI_Bcast(&id, 2, MPI_INT, 0, comm);
    return id;
}

void iso_open_files_add(iso_open_files_t *files, iso_open_id_t id,
                        const char *name, MPI_Info given, MPI_File handle)
{
    int rank = 0;
    ISO_GROW(files->list, files->used, files->room);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    iso_open_file_t *file = &files->list[files->used++];
    *file = (iso_open_file_t){.handle = handle,
                              .id = id,
                              .leads = rank == id.leader,
                              .view = iso_view_of_all(),
                              .last_shape = -1,
                              .last_call = -1};
    if (file->leads) {
        file->name = iso_copied(name);
        file->filesystem = filesystem_of(name);
        iso_open_file_hints(file, given);
    }
}

iso_open_file_t *iso_open_files_find(iso_open_files_t *files, MPI_File handle)
{
    for (int k = files->used - 1; k >= 0; k--) {
        if (files->list[k].handle == handle && handle != MPI_FILE_NULL) {
            return &files->list[k];
        }
    }
    return NULL;
}

static iso_hint_t *hint_of(iso_open_file_t *file, const char *key)
{
    for (int k = 0; k < file->hint_count; k++) {
        if (strcmp(file->hints[k].key, key) == 0) {
            return &file->hints[k];
        }
    }
    file->hints =
        iso_resized(file->hints, (file->hint_count + 1) * sizeof(*file->hints));
    iso_hint_t *hint = &file->hints[file->hint_count++];
    *hint = (iso_hint_t){.given = NULL};
    snprintf(hint->key, sizeof(hint->key), "%s", key);
    return hint;
}

static void take_hints(iso_open_file_t *file, MPI_Info info, bool given)
{
    int count = 0;
    char key[MPI_MAX_INFO_KEY + 1] = "";
    char *value = iso_zeroed(MPI_MAX_INFO_VAL + 1);
    PMPI_Info_get_nkeys(info, &count);
    for (int k = 0; k < count; k++) {
        int found = 0;
        PMPI_Info_get_nthkey(info, k, key);
        PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
        if (found) {
            iso_hint_t *hint = hint_of(file, key);
            char **text = given ? &hint->given : &hint->value;
            free(*text);
            *text = iso_copied(value);
        }
    }
    free(value);
}

void iso_open_file_hints(iso_open_file_t *file, MPI_Info given)
{
    MPI_Info used = MPI_INFO_NULL;
    if (given != MPI_INFO_NULL) {
        take_hints(file, given, true);
    }
    if (PMPI_File_get_info(file->handle, &used) == MPI_SUCCESS &&
        used != MPI_INFO_NULL) {
        take_hints(file, used, false);
        PMPI_Info_free(&used);
    }
}

void iso_hints_free(iso_hint_t *hints, int count)
{
    for (int k = 0; k < count; k++) {
        free(hints[k].given);
        free(hints[k].value);
    }
    free(hints);
}

void iso_open_files_free(iso_open_files_t *files)
{
    for (int k = 0; k < files->used; k++) {
        iso_open_file_t *file = &files->list[k];
        iso_hints_free(file->hints, file->hint_count);
        free(file->name);
        iso_view_free(&file->view);
    }
    free(files->list);
    *files = (iso_open_files_t){0};
}
