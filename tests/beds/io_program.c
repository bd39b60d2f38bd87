/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that knows nothing of Isochrone: it writes and reads files.
 *
 *     io_program FILE KIND BYTES ROUNDS [KEY=VALUE ...]
 *
 * KIND is one of: tiles (a two-dimensional array, one tile a rank), strided
 * (blocks dealt out in turn), rows (one piece a rank), random:SEED (one of
 * these for each of three files, with random sizes), independent (no collective
 * call), opened (no access at all), fails (exits with 3), none (no file).
 * BYTES are those of a rank in a call, ROUNDS calls write, then as many read.
 * KEY=VALUE are hints; compute=SECONDS sleeps once.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, ranks;
static MPI_Info info = MPI_INFO_NULL;

/** Let the next call begin behind what all ranks access in this one. */
static void repeat_after(MPI_Datatype *type, MPI_Offset bytes)
{
    MPI_Datatype own = *type;
    MPI_Type_create_resized(own, 0, bytes, type);
    MPI_Type_free(&own);
}

/** A view of this kind for about `bytes` bytes of each rank; returns them. */
static int view_of(const char *kind, int bytes, int block, MPI_Datatype *type)
{
    if (strcmp(kind, "tiles") == 0) {
        int grid[2] = {0, 0};
        MPI_Dims_create(ranks, 2, grid);
        int width = block, height = bytes / block > 0 ? bytes / block : 1;
        int sizes[2] = {height * grid[0], width * grid[1]};
        int own[2] = {height, width};
        int starts[2] = {rank / grid[1] * height, rank % grid[1] * width};
        MPI_Type_create_subarray(2, sizes, own, starts, MPI_ORDER_C, MPI_BYTE,
                                 type);
        bytes = width * height;
    } else if (strcmp(kind, "strided") == 0) {
        int blocks = bytes / block > 0 ? bytes / block : 1;
        MPI_Type_vector(blocks, block, block * ranks, MPI_BYTE, type);
        bytes = blocks * block;
        repeat_after(type, (MPI_Offset)bytes * ranks);
    } else {
        MPI_Type_contiguous(bytes, MPI_BYTE, type);
        repeat_after(type, (MPI_Offset)bytes * ranks);
    }
    MPI_Type_commit(type);
    return bytes;
}

static MPI_Offset start_of(const char *kind, int bytes, int block)
{
    if (strcmp(kind, "tiles") == 0) {
        return 0;
    }
    return strcmp(kind, "strided") == 0 ? (MPI_Offset)rank * block
                                        : (MPI_Offset)rank * bytes;
}

static void access_file(const char *name, const char *kind, int bytes,
                        int block, int rounds, int collective)
{
    MPI_Datatype type;
    MPI_File file;
    int size = view_of(kind, bytes, block, &type);
    char *data = malloc((size_t)size);
    memset(data, 'a' + rank % 26, (size_t)size);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info,
                  &file);
    MPI_File_set_view(file, start_of(kind, bytes, block), MPI_BYTE, type,
                      "native", MPI_INFO_NULL);
    for (int k = 0; k < rounds; k++) {
        MPI_Offset at = (MPI_Offset)k * size;
        collective ? MPI_File_write_at_all(file, at, data, size, MPI_BYTE,
                                           MPI_STATUS_IGNORE)
                   : MPI_File_write_at(file, at, data, size, MPI_BYTE,
                                       MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int k = 0; k < rounds; k++) {
        MPI_Offset at = (MPI_Offset)k * size;
        memset(data, 0, (size_t)size);
        collective ? MPI_File_read_at_all(file, at, data, size, MPI_BYTE,
                                          MPI_STATUS_IGNORE)
                   : MPI_File_read_at(file, at, data, size, MPI_BYTE,
                                      MPI_STATUS_IGNORE);
        int right = 0;
        for (int b = 0; b < size; b++) {
            right += data[b] == 'a' + rank % 26;
        }
        if (right < size) {
            fprintf(stderr, "rank %d read %d wrong bytes\n", rank,
                    size - right);
            MPI_Abort(MPI_COMM_WORLD, 4);
        }
    }
    MPI_File_close(&file);
    MPI_Type_free(&type);
    free(data);
}

static void access_random(const char *name, unsigned seed, int bytes,
                          int rounds)
{
    const char *const kinds[] = {"tiles", "strided", "rows"};
    srand(seed);
    for (int k = 0; k < 3; k++) {
        char path[4096];
        snprintf(path, sizeof(path), "%s.%d", name, k);
        int block = 64 << rand() % 8;
        int size = bytes / 4 + rand() % bytes;
        access_file(path, kinds[rand() % 3], size, block, 1 + rand() % rounds,
                    1);
    }
}

static void hints_of(int argc, char **argv)
{
    MPI_Info_create(&info);
    for (int k = 5; k < argc; k++) {
        char *equals = strchr(argv[k], '=');
        if (equals == NULL) {
            continue;
        }
        *equals = '\0';
        if (strcmp(argv[k], "compute") == 0) {
            double seconds = atof(equals + 1);
            struct timespec time = {(time_t)seconds,
                                    (long)(1e9 * (seconds - (int)seconds))};
            nanosleep(&time, NULL);
        } else {
            MPI_Info_set(info, argv[k], equals + 1);
        }
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 5) {
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const char *name = argv[1], *kind = argv[2];
    int bytes = atoi(argv[3]), rounds = atoi(argv[4]), code = 0;
    hints_of(argc, argv);
    if (strcmp(kind, "independent") == 0) {
        access_file(name, "rows", bytes, 1, rounds, 0);
    } else if (strcmp(kind, "opened") == 0) {
        access_file(name, "rows", bytes, 1, 0, 0);
    } else if (strcmp(kind, "fails") == 0) {
        code = 3;
    } else if (strncmp(kind, "random:", 7) == 0) {
        access_random(name, (unsigned)atoi(kind + 7), bytes, rounds);
    } else if (strcmp(kind, "none") != 0) {
        access_file(name, kind, bytes, 256, rounds, 1);
    }
    MPI_Info_free(&info);
    MPI_Finalize();
    return code;
}
