/* A stand-in for SIONlib, as far as LinkTest 1.2 uses it: every rank writes its
 * records to a file of its own, NAME.RANK. Its matrix of times is in these
 * records only. */
#ifndef SION_H
#define SION_H
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

typedef int32_t sion_int32;
typedef int64_t sion_int64;
#define SION_MPI_INT64   MPI_INT64_T
#define SION_CURRENT_BLK -1
#define SION_CURRENT_POS -1

static inline int sion_paropen_mpi(const char *name, const char *mode,
                                   int *files, MPI_Comm all, MPI_Comm *local,
                                   sion_int64 *chunk, sion_int32 *block,
                                   int *rank, FILE **file, char **made)
{
    char own[300];
    (void)mode, (void)files, (void)chunk, (void)block, (void)made;
    *local = all;
    snprintf(own, sizeof own, "%s.%d", name, *rank);
    *file = fopen(own, "wb");
    if (*file)
        fclose(*file);
    return *rank;
}

static inline sion_int64 sion_coll_fwrite_mpi(const void *data, size_t size,
                                              sion_int64 count, int rank)
{
    char own[300];
    snprintf(own, sizeof own, "pingpong_results_bin.sion.%d", rank);
    FILE *file = fopen(own, "ab");
    sion_int64 written = file ? (sion_int64)fwrite(data, size, count, file) : 0;
    if (file)
        fclose(file);
    return written;
}

static inline int sion_parclose_mpi(int rank)
{
    return rank;
}

/* Serial writing (-Y 0) is not there. */
static inline int sion_open(const char *name, const char *mode, int *tasks,
                            int *files, sion_int64 **chunks, sion_int32 *block,
                            int **ranks, FILE **file)
{
    (void)name, (void)mode, (void)tasks, (void)files, (void)chunks, (void)block,
        (void)ranks, (void)file;
    return -1;
}
static inline int sion_seek_fp(int id, int rank, int block, int position,
                               FILE **file)
{
    (void)rank, (void)block, (void)position, (void)file;
    return id;
}
static inline size_t sion_fwrite(const void *data, size_t size, size_t count,
                                 int id)
{
    (void)data, (void)size, (void)count, (void)id;
    return 0;
}
static inline int sion_close(int id)
{
    return id;
}
#endif
