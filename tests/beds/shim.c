/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file shim.c
 * Preloaded into the probe by tests: sees and changes what an MPI does.
 *
 * ISO_SHIM_NODES=4,2,1   pretend that ranks 0-3 are on host f0, 4-5 on f1, ...
 * ISO_SHIM_CORRUPT=3     change a byte that rank 3 gets from MPI_File_read_all
 * ISO_SHIM_WRONG=0       change a byte that rank 0 gets from each collective
 *                        operation that the probe calls
 * ISO_SHIM_SERIALIZED=1  only one thread at a time may call MPI
 * ISO_SHIM_STREAMS=1     log every message that the probe sends with MPI_Send,
 *                        and every receive that it posts with MPI_Irecv:
 *
 *     stream TAG DESTINATION COMMUNICATOR
 *     posted TAG SOURCE 0|1               1: from any source
 *
 * ISO_SHIM_WRONG_TAG=T   change a byte of what MPI_Recv gets with this tag
 *
 * ISO_SHIM_LOG=FILE      write every message into FILE.RANK:
 *
 *     write EXCHANGES DESTINATION BYTES   sent by the library while it is in
 *     read EXCHANGES DESTINATION BYTES    MPI_File_write_all or read_all;
 *                                         EXCHANGES: calls of Alltoall so far
 *     replay 0|1 DESTINATION BYTES        sent by the probe's replay; 1 if the
 *                                         data is contiguous (when writing)
 *
 * ROMIO calls PMPI_Isend and the like, which go through the dynamic linker and
 * can therefore be taken over here, unlike MPI_Isend by a profiling tool.
 * First ROMIO exchanges counts (one Alltoall), then lists of pieces, then in
 * each round sizes (one Alltoall) and the data.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPLAY_TAG = 1303 };

static const char *inside; /* "write" or "read" while in such a call */
static int exchanges;
static FILE *stream;

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int world_rank(void)
{
    int rank = 0;
    NEXT(MPI_Comm_rank)(MPI_COMM_WORLD, &rank);
    return rank;
}

static void note(const char *what, int how, int destination, long long bytes)
{
    const char *log = getenv("ISO_SHIM_LOG");
    if (log == NULL) {
        return;
    }
    if (stream == NULL) {
        char path[4096];
        snprintf(path, sizeof(path), "%s.%d", log, world_rank());
        stream = fopen(path, "w");
        if (stream == NULL) {
            perror(path);
            abort();
        }
    }
    fprintf(stream, "%s %d %d %lld\n", what, how, destination, bytes);
    fflush(stream);
}

static long long length(long long count, MPI_Datatype type)
{
    int size = 0;
    NEXT(MPI_Type_size)(type, &size);
    return count * size;
}

int PMPI_Isend(const void *buffer, int count, MPI_Datatype type, int rank,
               int tag, MPI_Comm comm, MPI_Request *request)
{
    if (inside) {
        note(inside, exchanges, rank, length(count, type));
    }
    return NEXT(PMPI_Isend)(buffer, count, type, rank, tag, comm, request);
}

#if MPI_VERSION >= 4
int PMPI_Isend_c(const void *buffer, MPI_Count count, MPI_Datatype type,
                 int rank, int tag, MPI_Comm comm, MPI_Request *request)
{
    if (inside) {
        note(inside, exchanges, rank, length(count, type));
    }
    return NEXT(PMPI_Isend_c)(buffer, count, type, rank, tag, comm, request);
}
#endif

int PMPI_Alltoall(const void *from, int a, MPI_Datatype b, void *to, int c,
                  MPI_Datatype d, MPI_Comm comm)
{
    exchanges++;
    return NEXT(PMPI_Alltoall)(from, a, b, to, c, d, comm);
}

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int rank,
              int tag, MPI_Comm comm, MPI_Request *request)
{
    if (tag == REPLAY_TAG && !inside) {
        note("replay", type == MPI_BYTE, rank, length(count, type));
    }
    return NEXT(MPI_Isend)(buffer, count, type, rank, tag, comm, request);
}

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int rank,
             int tag, MPI_Comm comm)
{
    if (getenv("ISO_SHIM_STREAMS")) {
        long long handle = 0;
        memcpy(&handle, &comm, sizeof(comm));
        note("stream", tag, rank, handle);
    }
    return NEXT(MPI_Send)(buffer, count, type, rank, tag, comm);
}

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int rank, int tag,
              MPI_Comm comm, MPI_Request *request)
{
    if (getenv("ISO_SHIM_STREAMS")) {
        note("posted", tag, rank, rank == MPI_ANY_SOURCE);
    }
    return NEXT(MPI_Irecv)(buffer, count, type, rank, tag, comm, request);
}

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int rank, int tag,
             MPI_Comm comm, MPI_Status *status)
{
    const char *text = getenv("ISO_SHIM_WRONG_TAG");
    int error = NEXT(MPI_Recv)(buffer, count, type, rank, tag, comm, status);
    if (text && atoi(text) == tag && length(count, type) > 0) {
        ((unsigned char *)buffer)[0] ^= 1;
    }
    return error;
}

int MPI_Init_thread(int *argc, char ***argv, int needed, int *provided)
{
    int error = NEXT(MPI_Init_thread)(argc, argv, needed, provided);
    if (getenv("ISO_SHIM_SERIALIZED")) {
        *provided = MPI_THREAD_SERIALIZED;
    }
    return error;
}

int MPI_File_write_all(MPI_File file, const void *buffer, int count,
                       MPI_Datatype type, MPI_Status *status)
{
    inside = "write";
    exchanges = 0;
    int error = NEXT(MPI_File_write_all)(file, buffer, count, type, status);
    inside = NULL;
    return error;
}

int MPI_File_read_all(MPI_File file, void *buffer, int count, MPI_Datatype type,
                      MPI_Status *status)
{
    const char *corrupt = getenv("ISO_SHIM_CORRUPT");
    inside = "read";
    exchanges = 0;
    int error = NEXT(MPI_File_read_all)(file, buffer, count, type, status);
    inside = NULL;
    if (corrupt && atoi(corrupt) == world_rank()) {
        ((unsigned char *)buffer)[count / 2] ^= 1;
    }
    return error;
}

/** Change the last byte of what a collective operation has delivered. */
static int wrong(int error, void *receive, int count, MPI_Datatype type,
                 int blocks)
{
    const char *asked = getenv("ISO_SHIM_WRONG");
    int size = 0;
    MPI_Type_size(type, &size);
    long last = (long)count * size * blocks - 1;
    if (asked && atoi(asked) == world_rank() && receive && last >= 0) {
        ((unsigned char *)receive)[last] ^= 1;
    }
    return error;
}

static int ranks_of(MPI_Comm comm)
{
    int size = 0;
    MPI_Comm_size(comm, &size);
    return size;
}

int MPI_Bcast(void *data, int n, MPI_Datatype type, int root, MPI_Comm comm)
{
    return wrong(PMPI_Bcast(data, n, type, root, comm), data, n, type, 1);
}

int MPI_Reduce(const void *send, void *receive, int n, MPI_Datatype type,
               MPI_Op op, int root, MPI_Comm comm)
{
    int error = PMPI_Reduce(send, receive, n, type, op, root, comm);
    return wrong(error, receive, n, type, 1);
}

int MPI_Allreduce(const void *send, void *receive, int n, MPI_Datatype type,
                  MPI_Op op, MPI_Comm comm)
{
    int error = PMPI_Allreduce(send, receive, n, type, op, comm);
    return wrong(error, receive, n, type, 1);
}

int MPI_Scan(const void *send, void *receive, int n, MPI_Datatype type,
             MPI_Op op, MPI_Comm comm)
{
    int error = PMPI_Scan(send, receive, n, type, op, comm);
    return wrong(error, receive, n, type, 1);
}

int MPI_Reduce_scatter_block(const void *send, void *receive, int n,
                             MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    int error = PMPI_Reduce_scatter_block(send, receive, n, type, op, comm);
    return wrong(error, receive, n, type, 1);
}

int MPI_Scatter(const void *send, int count, MPI_Datatype of, void *receive,
                int n, MPI_Datatype type, int root, MPI_Comm comm)
{
    int error = PMPI_Scatter(send, count, of, receive, n, type, root, comm);
    return wrong(error, receive, n, type, 1);
}

int MPI_Gather(const void *send, int count, MPI_Datatype of, void *receive,
               int n, MPI_Datatype type, int root, MPI_Comm comm)
{
    int error = PMPI_Gather(send, count, of, receive, n, type, root, comm);
    return wrong(error, receive, n, type, ranks_of(comm));
}

int MPI_Allgather(const void *send, int count, MPI_Datatype of, void *receive,
                  int n, MPI_Datatype type, MPI_Comm comm)
{
    int error = PMPI_Allgather(send, count, of, receive, n, type, comm);
    return wrong(error, receive, n, type, ranks_of(comm));
}

int MPI_Alltoall(const void *send, int count, MPI_Datatype of, void *receive,
                 int n, MPI_Datatype type, MPI_Comm comm)
{
    int error = NEXT(PMPI_Alltoall)(send, count, of, receive, n, type, comm);
    return wrong(error, receive, n, type, ranks_of(comm));
}

static int pretend(char *name, int *size)
{
    const char *rest = getenv("ISO_SHIM_NODES");
    int rank = world_rank();
    for (int node = 0; rest; node++) {
        rank -= atoi(rest);
        if (rank < 0) {
            *size = sprintf(name, "f%d", node);
            return MPI_SUCCESS;
        }
        rest = strchr(rest, ',');
        rest = rest ? rest + 1 : NULL;
    }
    return NEXT(MPI_Get_processor_name)(name, size);
}

int MPI_Get_processor_name(char *name, int *size)
{
    return pretend(name, size);
}

int PMPI_Get_processor_name(char *name, int *size)
{
    return pretend(name, size);
}
