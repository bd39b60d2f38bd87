/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file file_views.c
 * A program that accesses a file through random views:  FILE SEED [HINT=VALUE]
 *
 * Each rank has a datatype of its own, of all kinds, nested, over a part of the
 * file of its own. Access k of rank r writes the byte 1 + k * ranks + r, so
 * that the file says who wrote what.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if MPI_VERSION >= 4 && !defined(NO_LARGE_COUNTS)
#define LARGE 1
#else
#define LARGE 0
#endif

enum { REGION = 1 << 21, MOST = 4096, ACCESSES = 5 };

static unsigned state;

static int below(int n)
{
    state = state * 1664525u + 1013904223u;
    return (int)((state >> 8) % (unsigned)n);
}

static MPI_Aint extent_of(MPI_Datatype type)
{
    MPI_Aint low, extent;
    MPI_Type_get_extent(type, &low, &extent);
    return extent;
}

static MPI_Aint size_of(MPI_Datatype type)
{
    int size;
    MPI_Type_size(type, &size);
    return size;
}

static MPI_Datatype basic(void)
{
    MPI_Datatype all[] = {MPI_BYTE, MPI_SHORT, MPI_INT, MPI_DOUBLE};
    return all[below(4)];
}

static MPI_Datatype array(MPI_Datatype of)
{
    int n = 1 + below(3), size[3], part[3], start[3];
    int order = below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    MPI_Datatype made;
    for (int d = 0; d < n; d++) {
        size[d] = 1 + below(6);
        part[d] = 1 + below(size[d]);
        start[d] = below(size[d] - part[d] + 1);
    }
#if LARGE
    if (below(2)) {
        MPI_Count large[3][3];
        for (int d = 0; d < n; d++) {
            large[0][d] = size[d];
            large[1][d] = part[d];
            large[2][d] = start[d];
        }
        MPI_Type_create_subarray_c(n, large[0], large[1], large[2], order, of,
                                   &made);
        return made;
    }
#endif
    MPI_Type_create_subarray(n, size, part, start, order, of, &made);
    return made;
}

static MPI_Datatype distributed(MPI_Datatype of)
{
    int n = 1 + below(3), size[3], kind[3], argument[3], processes[3], all = 1;
    int kinds[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC,
                   MPI_DISTRIBUTE_NONE};
    int order = below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    MPI_Datatype made;
    for (int d = 0; d < n; d++) {
        kind[d] = kinds[below(3)];
        processes[d] = kind[d] == MPI_DISTRIBUTE_NONE ? 1 : 1 + below(3);
        size[d] = 2 * processes[d] + below(5);
        argument[d] = MPI_DISTRIBUTE_DFLT_DARG;
        if (kind[d] == MPI_DISTRIBUTE_CYCLIC && below(2)) {
            argument[d] = 1 + below(2);
        }
        all *= processes[d];
    }
    int rank = below(all);
#if LARGE
    if (below(2)) {
        MPI_Count large[3];
        for (int d = 0; d < n; d++) {
            large[d] = size[d];
        }
        MPI_Type_create_darray_c(all, rank, n, large, kind, argument, processes,
                                 order, of, &made);
        return made;
    }
#endif
    MPI_Type_create_darray(all, rank, n, size, kind, argument, processes, order,
                           of, &made);
    return made;
}

/** Blocks of one length, at elements or at bytes. */
static MPI_Datatype regular(MPI_Datatype of, int kind)
{
    int count = 1 + below(4), length = 1 + below(3), at[4], next = 0;
    MPI_Aint bytes[4], extent = extent_of(of);
    MPI_Datatype made;
    for (int k = 0; k < count; k++) {
        at[k] = next + below(3);
        next = at[k] + length;
        bytes[k] = at[k] * extent + (k == count - 1 ? below(3) : 0);
    }
#if LARGE
    if (below(2)) {
        MPI_Count large[4], large_bytes[4];
        for (int k = 0; k < count; k++) {
            large[k] = at[k];
            large_bytes[k] = bytes[k];
        }
        if (kind == 0) {
            MPI_Type_vector_c(count, length, length + below(3), of, &made);
        } else if (kind == 1) {
            MPI_Type_create_hvector_c(count, length, length * extent + below(5),
                                      of, &made);
        } else if (kind == 2) {
            MPI_Type_create_indexed_block_c(count, length, large, of, &made);
        } else {
            MPI_Type_create_hindexed_block_c(count, length, large_bytes, of,
                                             &made);
        }
        return made;
    }
#endif
    if (kind == 0) {
        MPI_Type_vector(count, length, length + below(3), of, &made);
    } else if (kind == 1) {
        MPI_Type_create_hvector(count, length, length * extent + below(5), of,
                                &made);
    } else if (kind == 2) {
        MPI_Type_create_indexed_block(count, length, at, of, &made);
    } else {
        MPI_Type_create_hindexed_block(count, length, bytes, of, &made);
    }
    return made;
}

/** Blocks of several lengths. */
static MPI_Datatype irregular(MPI_Datatype of, int bytewise)
{
    int count = 1 + below(4), length[4], at[4], next = 0;
    MPI_Aint bytes[4], extent = extent_of(of);
    MPI_Datatype made;
    for (int k = 0; k < count; k++) {
        length[k] = below(4);
        at[k] = next + below(3);
        next = at[k] + length[k];
        bytes[k] = at[k] * extent;
    }
    length[0]++;
    for (int k = 1; k < count; k++) {
        at[k]++;
        bytes[k] += extent;
    }
#if LARGE
    if (below(2)) {
        MPI_Count large_length[4], large[4];
        for (int k = 0; k < count; k++) {
            large_length[k] = length[k];
            large[k] = bytewise ? bytes[k] : at[k];
        }
        if (bytewise) {
            MPI_Type_create_hindexed_c(count, large_length, large, of, &made);
        } else {
            MPI_Type_indexed_c(count, large_length, large, of, &made);
        }
        return made;
    }
#endif
    if (bytewise) {
        MPI_Type_create_hindexed(count, length, bytes, of, &made);
    } else {
        MPI_Type_indexed(count, length, at, of, &made);
    }
    return made;
}

static MPI_Datatype structure(MPI_Datatype of)
{
    MPI_Datatype types[3] = {of, MPI_INT, of}, made;
    int length[3] = {1 + below(2), below(3), 1};
    MPI_Aint bytes[3] = {0, 0, 0};
    for (int k = 1; k < 3; k++) {
        bytes[k] = bytes[k - 1] + length[k - 1] * extent_of(types[k - 1]) +
                   4 * below(3);
    }
#if LARGE
    if (below(2)) {
        MPI_Count large_length[3], large[3];
        for (int k = 0; k < 3; k++) {
            large_length[k] = length[k];
            large[k] = bytes[k];
        }
        MPI_Type_create_struct_c(3, large_length, large, types, &made);
        return made;
    }
#endif
    MPI_Type_create_struct(3, length, bytes, types, &made);
    return made;
}

static MPI_Datatype wider(MPI_Datatype of)
{
    MPI_Datatype made;
    MPI_Aint more = extent_of(of) + below(20);
#if LARGE
    if (below(2)) {
        MPI_Type_create_resized_c(of, 0, more, &made);
        return made;
    }
#endif
    MPI_Type_create_resized(of, 0, more, &made);
    return made;
}

static MPI_Datatype contiguous(MPI_Datatype of)
{
    MPI_Datatype made;
#if LARGE
    if (below(2)) {
        MPI_Type_contiguous_c(1 + below(4), of, &made);
        return made;
    }
#endif
    MPI_Type_contiguous(1 + below(4), of, &made);
    return made;
}

/** A datatype whose pieces ascend and do not overlap, as views need it. */
static MPI_Datatype nested(int depth)
{
    MPI_Datatype of = depth ? nested(depth - 1) : basic(), made;
    int kind = below(11);
    if (kind < 4) {
        made = regular(of, kind);
    } else if (kind < 6) {
        made = irregular(of, kind - 4);
    } else if (kind == 6) {
        made = structure(of);
    } else if (kind == 7) {
        made = wider(of);
    } else if (kind == 8) {
        made = array(of);
    } else if (kind == 9) {
        made = distributed(of);
    } else if (below(2)) {
        made = contiguous(of);
    } else {
        MPI_Type_dup(of, &made);
    }
    if (depth) {
        MPI_Type_free(&of);
    }
    return made;
}

/** Whether the library takes it: some refuse some, at one rank only, and then
 *  the others wait. */
static int is_taken(MPI_Datatype type, const char *name)
{
    char path[1000];
    MPI_File file;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof(path), "%s.%d", name, rank);
    MPI_File_open(MPI_COMM_SELF, path,
                  MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    int code =
        MPI_File_set_view(file, 0, MPI_BYTE, type, "native", MPI_INFO_NULL);
    MPI_File_close(&file);
    return code == MPI_SUCCESS;
}

static MPI_Datatype view(const char *name)
{
    for (;;) {
        MPI_Datatype made = nested(below(4));
        MPI_Type_commit(&made);
        if (size_of(made) > 0 && extent_of(made) < 60000 &&
            extent_of(made) / size_of(made) < 20 && is_taken(made, name)) {
            return made;
        }
        MPI_Type_free(&made);
    }
}

static MPI_Info hint(const char *text)
{
    MPI_Info info = MPI_INFO_NULL;
    char key[100];
    if (text) {
        size_t length = strcspn(text, "=");
        memcpy(key, text, length);
        key[length] = '\0';
        MPI_Info_create(&info);
        MPI_Info_set(info, key, text + length + 1);
    }
    return info;
}

static void access_file(MPI_File file, int k, MPI_Offset at, char *data, int n)
{
    MPI_Status status;
    if (k == 0) {
        MPI_File_write_at_all(file, at, data, n, MPI_BYTE, &status);
    } else if (k == 1) {
        MPI_File_seek(file, at, MPI_SEEK_SET);
        MPI_File_write_all(file, data, n, MPI_BYTE, &status);
    } else if (k == 2) { /* goes on where the one before ended */
        MPI_File_write_all_begin(file, data, n, MPI_BYTE);
        MPI_File_write_all_end(file, data, &status);
    } else if (k == 3) {
#if LARGE
        MPI_File_write_at_all_c(file, at, data, n, MPI_BYTE, &status);
#else
        MPI_File_write_at_all(file, at, data, n, MPI_BYTE, &status);
#endif
    } else {
        MPI_File_write_at_all_begin(file, at, data, n, MPI_BYTE);
        MPI_File_write_at_all_end(file, data, &status);
    }
}

int main(int argc, char **argv)
{
    int rank, ranks;
    char data[MOST];
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    state = (unsigned)(atoi(argv[2]) * 1000 + rank);
    MPI_Info info = hint(argc > 3 ? argv[3] : NULL);
    MPI_Datatype type = view(argv[1]);
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR,
                  info, &file);
    /* What ROMIO reads behind the end, to fill holes, it writes as it is. */
    MPI_File_set_size(file, (MPI_Offset)ranks * REGION);
    MPI_File_set_view(file, (MPI_Offset)rank * REGION + below(50), MPI_BYTE,
                      type, "native", info);
    MPI_Offset at = below(300);
    for (int k = 0; k < ACCESSES; k++) {
        int n = below(8) ? below(MOST) : 0;
        at += k == 2 ? 0 : below(200);
        memset(data, 1 + k * ranks + rank, sizeof(data));
        access_file(file, k, at, data, n);
        at += n;
    }
    MPI_File_close(&file);
    MPI_Type_free(&type);
    if (info != MPI_INFO_NULL) {
        MPI_Info_free(&info);
    }
    MPI_Finalize();
    return 0;
}
