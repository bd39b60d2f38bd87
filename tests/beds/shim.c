/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file shim.c
 * Preloaded into the probe by tests: sees and changes what an MPI does.
 *
 * ISO_SHIM_NODES=4,2,1   pretend that ranks 0-3 are on host f0, 4-5 on f1, ...
 * ISO_SHIM_CORRUPT=3     change a byte that rank 3 gets from MPI_File_read_all
 * ISO_SHIM_WRONG=0       change a byte that rank 0 gets from each collective
 *                        operation that the probe calls, sends in messages of
 *                        transfers, or writes by one-sided calls
 * ISO_SHIM_LOST=0        rank 0 does not get what its one-sided calls fetch,
 *                        and its puts write nothing
 * ISO_SHIM_REVERSED=1    new communicators have their ranks in reverse order,
 *                        if they are not made from MPI_COMM_WORLD
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

enum { REPLAY_TAG = 1303, TRANSFER_TAG = 1102, SCRATCH = 1 << 20 };

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

static int asked(const char *variable)
{
    const char *rank = getenv(variable);
    return rank && atoi(rank) == world_rank();
}

/** Return the data, or a copy with another last byte; these are few. */
static const void *spoiled(const void *data, long long bytes)
{
    if (!asked("ISO_SHIM_WRONG") || bytes == 0) {
        return data;
    }
    unsigned char *copy = memcpy(malloc((size_t)bytes), data, (size_t)bytes);
    copy[bytes - 1] ^= 1;
    return copy;
}

static const void *sent(const void *data, int count, MPI_Datatype type, int tag)
{
    return tag == TRANSFER_TAG ? spoiled(data, length(count, type)) : data;
}

/** Return where fetched data shall go. */
static void *delivered(void *result)
{
    static long long scratch[SCRATCH / sizeof(long long)];
    return asked("ISO_SHIM_LOST") ? scratch : result;
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
    return NEXT(MPI_Isend)(sent(buffer, count, type, tag), count, type, rank,
                           tag, comm, request);
}

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int rank,
             int tag, MPI_Comm comm)
{
    if (getenv("ISO_SHIM_STREAMS")) {
        long long handle = 0;
        memcpy(&handle, &comm, sizeof(comm));
        note("stream", tag, rank, handle);
    }
    return NEXT(MPI_Send)(sent(buffer, count, type, tag), count, type, rank,
                          tag, comm);
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

/** Change the last element of what a collective operation has delivered. */
static int wrong(int error, void *receive, long elements, MPI_Datatype type)
{
    const char *asked = getenv("ISO_SHIM_WRONG");
    MPI_Aint lower, extent;
    MPI_Type_get_extent(type, &lower, &extent);
    if (asked && atoi(asked) == world_rank() && receive != MPI_IN_PLACE &&
        receive && elements > 0) {
        ((unsigned char *)receive)[(elements - 1) * extent] ^= 1;
    }
    return error;
}

int MPI_Sendrecv(const void *data, int n, MPI_Datatype type, int to, int tag,
                 void *in, int count, MPI_Datatype as, int from, int as_tag,
                 MPI_Comm comm, MPI_Status *status)
{
    return PMPI_Sendrecv(sent(data, n, type, tag), n, type, to, tag, in, count,
                         as, from, as_tag, comm, status);
}

int MPI_Sendrecv_replace(void *data, int n, MPI_Datatype type, int to, int tag,
                         int from, int as_tag, MPI_Comm comm,
                         MPI_Status *status)
{
    const void *out = sent(data, n, type, tag);
    return out == data ? PMPI_Sendrecv_replace(data, n, type, to, tag, from,
                                               as_tag, comm, status)
                       : PMPI_Sendrecv(out, n, type, to, tag, data, n, type,
                                       from, as_tag, comm, status);
}

int MPI_Send_init(const void *data, int n, MPI_Datatype type, int rank, int tag,
                  MPI_Comm comm, MPI_Request *request)
{
    return PMPI_Send_init(sent(data, n, type, tag), n, type, rank, tag, comm,
                          request);
}

#if MPI_VERSION >= 4
int MPI_Psend_init(const void *data, int partitions, MPI_Count n,
                   MPI_Datatype type, int rank, int tag, MPI_Comm comm,
                   MPI_Info info, MPI_Request *request)
{
    return PMPI_Psend_init(spoiled(data, length(n * partitions, type)),
                           partitions, n, type, rank, tag, comm, info, request);
}
#endif

int MPI_Put(const void *data, int n, MPI_Datatype type, int rank, MPI_Aint at,
            int count, MPI_Datatype as, MPI_Win window)
{
    const void *from = spoiled(data, length(n, type));
    return asked("ISO_SHIM_LOST")
               ? MPI_SUCCESS
               : PMPI_Put(from, n, type, rank, at, count, as, window);
}

int MPI_Get(void *data, int n, MPI_Datatype type, int rank, MPI_Aint at,
            int count, MPI_Datatype as, MPI_Win window)
{
    at += asked("ISO_SHIM_WRONG");
    return PMPI_Get(delivered(data), n, type, rank, at, count, as, window);
}

int MPI_Accumulate(const void *data, int n, MPI_Datatype type, int rank,
                   MPI_Aint at, int count, MPI_Datatype as, MPI_Op op,
                   MPI_Win window)
{
    return PMPI_Accumulate(spoiled(data, length(n, type)), n, type, rank, at,
                           count, as, op, window);
}

int MPI_Get_accumulate(const void *data, int n, MPI_Datatype type, void *result,
                       int results, MPI_Datatype of, int rank, MPI_Aint at,
                       int count, MPI_Datatype as, MPI_Op op, MPI_Win window)
{
    return PMPI_Get_accumulate(spoiled(data, length(n, type)), n, type,
                               delivered(result), results, of, rank, at, count,
                               as, op, window);
}

int MPI_Fetch_and_op(const void *data, void *result, MPI_Datatype type,
                     int rank, MPI_Aint at, MPI_Op op, MPI_Win window)
{
    return PMPI_Fetch_and_op(spoiled(data, length(1, type)), delivered(result),
                             type, rank, at, op, window);
}

int MPI_Compare_and_swap(const void *data, const void *compared, void *result,
                         MPI_Datatype type, int rank, MPI_Aint at,
                         MPI_Win window)
{
    return PMPI_Compare_and_swap(spoiled(data, length(1, type)), compared,
                                 delivered(result), type, rank, at, window);
}

static int ranks_of(MPI_Comm comm)
{
    int size = 0;
    MPI_Comm_size(comm, &size);
    return size;
}

int MPI_Bcast(void *data, int n, MPI_Datatype type, int root, MPI_Comm comm)
{
    return wrong(PMPI_Bcast(data, n, type, root, comm), data, n, type);
}

int MPI_Reduce(const void *send, void *receive, int n, MPI_Datatype type,
               MPI_Op op, int root, MPI_Comm comm)
{
    int error = PMPI_Reduce(send, receive, n, type, op, root, comm);
    return wrong(error, receive, n, type);
}

int MPI_Allreduce(const void *send, void *receive, int n, MPI_Datatype type,
                  MPI_Op op, MPI_Comm comm)
{
    int error = PMPI_Allreduce(send, receive, n, type, op, comm);
    return wrong(error, receive, n, type);
}

int MPI_Scan(const void *send, void *receive, int n, MPI_Datatype type,
             MPI_Op op, MPI_Comm comm)
{
    int error = PMPI_Scan(send, receive, n, type, op, comm);
    return wrong(error, receive, n, type);
}

int MPI_Reduce_scatter_block(const void *send, void *receive, int n,
                             MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    int error = PMPI_Reduce_scatter_block(send, receive, n, type, op, comm);
    return wrong(error, receive, n, type);
}

int MPI_Scatter(const void *send, int count, MPI_Datatype of, void *receive,
                int n, MPI_Datatype type, int root, MPI_Comm comm)
{
    int error = PMPI_Scatter(send, count, of, receive, n, type, root, comm);
    return wrong(error, receive, n, type);
}

int MPI_Gather(const void *send, int count, MPI_Datatype of, void *receive,
               int n, MPI_Datatype type, int root, MPI_Comm comm)
{
    int error = PMPI_Gather(send, count, of, receive, n, type, root, comm);
    return wrong(error, receive, (long)n * ranks_of(comm), type);
}

int MPI_Allgather(const void *send, int count, MPI_Datatype of, void *receive,
                  int n, MPI_Datatype type, MPI_Comm comm)
{
    int error = PMPI_Allgather(send, count, of, receive, n, type, comm);
    return wrong(error, receive, (long)n * ranks_of(comm), type);
}

int MPI_Alltoall(const void *send, int count, MPI_Datatype of, void *receive,
                 int n, MPI_Datatype type, MPI_Comm comm)
{
    int error = NEXT(PMPI_Alltoall)(send, count, of, receive, n, type, comm);
    return wrong(error, receive, (long)n * ranks_of(comm), type);
}

/* Of the other forms, what is delivered is changed when they are complete: the
 * last operation that was begun or made, with its receive buffer. */
static struct {
    MPI_Request request;
    void *receive;
    long elements;
    MPI_Datatype type;
} begun;

static int begin(int error, const MPI_Request *request, void *receive,
                 long elements, MPI_Datatype type)
{
    begun.request = *request;
    begun.receive = receive;
    begun.elements = elements;
    begun.type = type;
    return error;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    int ours = begun.receive && *request == begun.request;
    int error = PMPI_Wait(request, status);
    if (ours) {
        wrong(error, begun.receive, begun.elements, begun.type);
        begun.receive = *request == MPI_REQUEST_NULL ? NULL : begun.receive;
    }
    return error;
}

int MPI_Request_free(MPI_Request *request)
{
    begun.receive = *request == begun.request ? NULL : begun.receive;
    return PMPI_Request_free(request);
}

#define LIST(...) __VA_ARGS__
#define DATA_IN   const void *send, int count, MPI_Datatype of
#define DATA_OUT  void *receive, int n, MPI_Datatype type
#define REDUCED   const void *send, DATA_OUT, MPI_Op op
#define FORM(called, parameters, values, elements, type)                       \
    int MPI_##called(LIST parameters, MPI_Request *request)                    \
    {                                                                          \
        int error = PMPI_##called(LIST values, request);                       \
        return begin(error, request, receive, elements, type);                 \
    }
#if MPI_VERSION >= 4
#define PERSISTENT(Name, parameters, values, elements, type)                   \
    FORM(Name##_init, (LIST parameters, MPI_Info info), (LIST values, info),   \
         elements, type)
#else
#define PERSISTENT(...)
#endif
/** The forms that are not blocking. */
#define BEGUN(lower, Name, parameters, values, elements, type)                 \
    FORM(I##lower, parameters, values, elements, type)                         \
    PERSISTENT(Name, parameters, values, elements, type)
#define FORMS(lower, Name, blocks, parameters, values)                         \
    BEGUN(lower, Name, (LIST parameters, MPI_Comm comm), (LIST values, comm),  \
          (long)n *(blocks), type)

/* Where blocks vary, they follow each other in the receive buffer. */

static long sum(const int *counts, int number)
{
    long all = 0;
    for (int k = 0; k < number; k++) {
        all += counts[k];
    }
    return all;
}

/** Neighbours from which a rank receives. */
static int sources(MPI_Comm comm)
{
    int kind, in = 0, out, weighted;
    MPI_Topo_test(comm, &kind);
    if (kind == MPI_CART) {
        MPI_Cartdim_get(comm, &in);
        return 2 * in;
    }
    MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    return in;
}

#define FAULTY(lower, Name, PARAMETERS, ARGUMENTS, elements, type)             \
    int MPI_##Name PARAMETERS                                                  \
    {                                                                          \
        return wrong(PMPI_##Name ARGUMENTS, receive, elements, type);          \
    }                                                                          \
    BEGUN(lower, Name, PARAMETERS, ARGUMENTS, elements, type)
#define SENT const void *send, int count, MPI_Datatype of
#define SENT_V                                                                 \
    const void *send, const int *counts, const int *at, MPI_Datatype of
#define RECEIVED void *receive, int n, MPI_Datatype type
#define RECEIVED_V                                                             \
    void *receive, const int *ns, const int *to, MPI_Datatype type
#define W(PLACE)                                                               \
    const void *send, const int *counts, const PLACE *at,                      \
        const MPI_Datatype *of, void *receive, const int *ns, const PLACE *to, \
        const MPI_Datatype *types, MPI_Comm comm
#define BOTH_V (send, counts, at, of, receive, ns, to, type, comm)

FAULTY(exscan, Exscan, (const void *send, RECEIVED, MPI_Op op, MPI_Comm comm),
       (send, receive, n, type, op, comm), n, type)
FAULTY(reduce_scatter, Reduce_scatter,
       (const void *send, void *receive, const int *ns, MPI_Datatype type,
        MPI_Op op, MPI_Comm comm),
       (send, receive, ns, type, op, comm), ns[world_rank()], type)
FAULTY(gatherv, Gatherv, (SENT, RECEIVED_V, int root, MPI_Comm comm),
       (send, count, of, receive, ns, to, type, root, comm),
       sum(ns, ranks_of(comm)), type)
FAULTY(scatterv, Scatterv, (SENT_V, RECEIVED, int root, MPI_Comm comm),
       (send, counts, at, of, receive, n, type, root, comm), n, type)
FAULTY(allgatherv, Allgatherv, (SENT, RECEIVED_V, MPI_Comm comm),
       (send, count, of, receive, ns, to, type, comm), sum(ns, ranks_of(comm)),
       type)
FAULTY(alltoallv, Alltoallv, (SENT_V, RECEIVED_V, MPI_Comm comm), BOTH_V,
       sum(ns, ranks_of(comm)), type)
FAULTY(alltoallw, Alltoallw, (W(int)),
       (send, counts, at, of, receive, ns, to, types, comm),
       sum(ns, ranks_of(comm)), types[0])
FAULTY(neighbor_allgather, Neighbor_allgather, (SENT, RECEIVED, MPI_Comm comm),
       (send, count, of, receive, n, type, comm), (long)n *sources(comm), type)
FAULTY(neighbor_allgatherv, Neighbor_allgatherv,
       (SENT, RECEIVED_V, MPI_Comm comm),
       (send, count, of, receive, ns, to, type, comm), sum(ns, sources(comm)),
       type)
FAULTY(neighbor_alltoall, Neighbor_alltoall, (SENT, RECEIVED, MPI_Comm comm),
       (send, count, of, receive, n, type, comm), (long)n *sources(comm), type)
FAULTY(neighbor_alltoallv, Neighbor_alltoallv,
       (SENT_V, RECEIVED_V, MPI_Comm comm), BOTH_V, sum(ns, sources(comm)),
       type)
FAULTY(neighbor_alltoallw, Neighbor_alltoallw, (W(MPI_Aint)),
       (send, counts, at, of, receive, ns, to, types, comm),
       sum(ns, sources(comm)), types[0])
FORMS(bcast, Bcast, 1, (DATA_OUT, int root), (receive, n, type, root))
FORMS(reduce, Reduce, 1, (REDUCED, int root),
      (send, receive, n, type, op, root))
FORMS(allreduce, Allreduce, 1, (REDUCED), (send, receive, n, type, op))
FORMS(scan, Scan, 1, (REDUCED), (send, receive, n, type, op))
FORMS(reduce_scatter_block, Reduce_scatter_block, 1, (REDUCED),
      (send, receive, n, type, op))
FORMS(scatter, Scatter, 1, (DATA_IN, DATA_OUT, int root),
      (send, count, of, receive, n, type, root))
FORMS(gather, Gather, ranks_of(comm), (DATA_IN, DATA_OUT, int root),
      (send, count, of, receive, n, type, root))
FORMS(allgather, Allgather, ranks_of(comm), (DATA_IN, DATA_OUT),
      (send, count, of, receive, n, type))
FORMS(alltoall, Alltoall, ranks_of(comm), (DATA_IN, DATA_OUT),
      (send, count, of, receive, n, type))

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

/** Make a communicator of the same ranks, in reverse order. */
static int reversed(MPI_Comm comm, MPI_Comm *made)
{
    return NEXT(MPI_Comm_split)(comm, 0, -world_rank(), made);
}

static int reverses(MPI_Comm comm)
{
    return getenv("ISO_SHIM_REVERSED") && comm != MPI_COMM_WORLD;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *made)
{
    return reverses(comm) ? reversed(comm, made)
                          : NEXT(MPI_Comm_dup)(comm, made);
}

int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *made)
{
    return reverses(comm) ? reversed(comm, made)
                          : NEXT(MPI_Comm_create)(comm, group, made);
}

int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag,
                          MPI_Comm *made)
{
    return reverses(comm) ? reversed(comm, made)
                          : NEXT(MPI_Comm_create_group)(comm, group, tag, made);
}

/** Only the communicators of the second colour are wrong. */
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *made)
{
    key = reverses(comm) && color == 1 ? -key : key;
    return NEXT(MPI_Comm_split)(comm, color, key, made);
}
