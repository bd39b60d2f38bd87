/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file collectives.c
 * A program that knows nothing of Isochrone: it does collective operations and
 * prints a checksum of what came out of each, rank by rank. It ends with 7.
 *
 *     collectives [single|funneled|serialized|multiple]   MPI_Init_thread
 *     collectives                                         MPI_Init
 *
 * Operations that reduce are done on integers, so that sums are exact.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1000, TEXT = 1 << 16 };

static int rank, size;
static MPI_Comm comm;
static int *send, *receive;
static char text[TEXT];
static size_t said;

/** Fill buffers with what no other rank has. */
static void fill(int count)
{
    for (int k = 0; k < count * size; k++) {
        send[k] = 1 + rank * 7919 + k * 31;
        receive[k] = 3 + rank * 104729 + k * 17;
    }
}

/** Keep a checksum of the first @a many integers. */
static void say(const char *name, int count, int many)
{
    uint64_t sum = 1469598103934665603ULL;
    for (int k = 0; k < many; k++) {
        sum = (sum ^ (unsigned)receive[k]) * 1099511628211ULL;
    }
    said += snprintf(text + said, TEXT - said, "%d of %d: %s, %d: %016llx\n",
                     rank, size, name, count, (unsigned long long)sum);
}

/** Multiply 2 x 2 matrices: not commutative. */
static void multiply(void *in, void *inout, int *length, MPI_Datatype *type)
{
    unsigned *a = in, *b = inout;
    (void)type;
    for (int k = 0; k < *length; k++, a += 4, b += 4) {
        unsigned c[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3],
                         a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
        memcpy(b, c, sizeof c);
    }
}

static void with_root(int count, int root)
{
    int all = count * size;
    fill(count);
    MPI_Bcast(receive, count, MPI_INT, root, comm);
    say("bcast", count, all);
    fill(count);
    MPI_Gather(send, count, MPI_INT, receive, count, MPI_INT, root, comm);
    say("gather", count, all);
    fill(count);
    MPI_Gather(rank == root ? MPI_IN_PLACE : (void *)receive, count, MPI_INT,
               receive, count, MPI_INT, root, comm);
    say("gather in place", count, all);
    fill(count);
    MPI_Scatter(send, count, MPI_INT, receive, count, MPI_INT, root, comm);
    say("scatter", count, all);
    fill(count);
    MPI_Scatter(send, count, MPI_INT,
                rank == root ? MPI_IN_PLACE : (void *)receive, count, MPI_INT,
                root, comm);
    say("scatter in place", count, all);
    fill(count);
    MPI_Reduce(send, receive, count, MPI_INT, MPI_SUM, root, comm);
    say("reduce", count, all);
    if (root != 0) { /* MPICH 4.0.2 reads from the address MPI_IN_PLACE */
        return;
    }
    fill(count);
    MPI_Reduce(rank == root ? MPI_IN_PLACE : (void *)receive, receive, count,
               MPI_INT, MPI_MAX, root, comm);
    say("reduce in place", count, all);
}

static void without_root(int count)
{
    int all = count * size;
    fill(count);
    MPI_Allreduce(send, receive, count, MPI_INT, MPI_BXOR, comm);
    say("allreduce", count, all);
    fill(count);
    MPI_Allreduce(MPI_IN_PLACE, receive, count, MPI_INT, MPI_MIN, comm);
    say("allreduce in place", count, all);
    fill(count);
    MPI_Allgather(send, count, MPI_INT, receive, count, MPI_INT, comm);
    say("allgather", count, all);
    fill(count);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, receive, count, MPI_INT,
                  comm);
    say("allgather in place", count, all);
    fill(count);
    MPI_Alltoall(send, count, MPI_INT, receive, count, MPI_INT, comm);
    say("alltoall", count, all);
    fill(count);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, receive, count, MPI_INT,
                 comm);
    say("alltoall in place", count, all);
    fill(count);
    MPI_Reduce_scatter_block(send, receive, count, MPI_INT, MPI_SUM, comm);
    say("reduce_scatter_block", count, all);
}

/** The block is described by one derived type at some ranks, by integers at
 *  the others. */
static void derived(int count)
{
    MPI_Datatype block;
    MPI_Type_vector(count, 1, 2, MPI_INT, &block);
    MPI_Type_commit(&block);
    fill(count);
    if (rank % 2) {
        MPI_Bcast(receive, 1, block, 0, comm);
    } else {
        MPI_Bcast(receive, count, MPI_INT, 0, comm);
    }
    say("bcast of a vector", count, count);
    fill(count);
    MPI_Allgather(send, 1, block, receive, count, MPI_INT, comm);
    say("allgather of a vector", count, count * size);
    MPI_Type_free(&block);
}

static void ordered(int count)
{
    MPI_Datatype matrix;
    MPI_Op product;
    MPI_Type_contiguous(4, MPI_INT, &matrix);
    MPI_Type_commit(&matrix);
    MPI_Op_create(multiply, 0, &product);
    fill(count);
    MPI_Allreduce(send, receive, count / 4, matrix, product, comm);
    say("product", count, count);
    fill(count);
    MPI_Reduce(send, receive, count / 4, matrix, product, size - 1, comm);
    say("product at a root", count, count);
    MPI_Op_free(&product);
    MPI_Type_free(&matrix);
}

/** Lower ranks and upper ranks: what one side has comes to the other. */
static void between_groups(int count)
{
    MPI_Comm side, inter;
    int upper = rank >= size / 2;
    MPI_Comm_split(comm, upper, 0, &side);
    MPI_Intercomm_create(side, 0, comm, upper ? 0 : size / 2, 1, &inter);
    fill(count);
    MPI_Allgather(send, count, MPI_INT, receive, count, MPI_INT, inter);
    say("allgather between groups", count, count * size);
    fill(count);
    int root = upper ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    MPI_Bcast(receive, count, MPI_INT, root, inter);
    say("bcast between groups", count, count * size);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&side);
}

#if MPI_VERSION >= 4
#define LARGE(name) name##_c
enum { SOME_COUNT = -1 };
#else
#define LARGE(name) name
enum { SOME_COUNT = 0 };
#endif

/** Calls with counts that are MPI_Count, where there are any; those that MPI
 *  does not look at are of no use. */
static void large_counts(int count)
{
    int all = count * size;
    fill(count);
    LARGE(MPI_Bcast)(receive, count, MPI_INT, 0, comm);
    say("large bcast", count, all);
    fill(count);
    LARGE(MPI_Gather)
    (send, count, MPI_INT, receive, rank == 0 ? count : SOME_COUNT, MPI_INT, 0,
     comm);
    say("large gather", count, all);
    fill(count);
    LARGE(MPI_Scatter)
    (send, rank == 0 ? count : SOME_COUNT, MPI_INT, receive, count, MPI_INT, 0,
     comm);
    say("large scatter", count, all);
    fill(count);
    LARGE(MPI_Reduce)(send, receive, count, MPI_INT, MPI_SUM, 0, comm);
    say("large reduce", count, all);
    fill(count);
    LARGE(MPI_Allreduce)(send, receive, count, MPI_INT, MPI_SUM, comm);
    say("large allreduce", count, all);
    fill(count);
    LARGE(MPI_Allgather)
    (MPI_IN_PLACE, SOME_COUNT, MPI_INT, receive, count, MPI_INT, comm);
    say("large allgather", count, all);
    fill(count);
    LARGE(MPI_Alltoall)
    (MPI_IN_PLACE, SOME_COUNT, MPI_INT, receive, count, MPI_INT, comm);
    say("large alltoall", count, all);
    fill(count);
    LARGE(MPI_Reduce_scatter_block)
    (send, receive, count, MPI_INT, MPI_SUM, comm);
    say("large reduce_scatter_block", count, all);
}

/** From now on a communicator is used. */
static void use(MPI_Comm other)
{
    comm = other;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
}

static void all_operations(int count, int root)
{
    with_root(count, root);
    without_root(count);
}

/** Rank 0 prints what all ranks have said. */
static void print(void)
{
    for (int k = 0; k < size; k++) {
        if (k == 0 && rank == 0) {
            fputs(text, stdout);
        } else if (k == rank) {
            MPI_Send(text, TEXT, MPI_CHAR, 0, 0, comm);
        } else if (rank == 0) {
            MPI_Recv(text, TEXT, MPI_CHAR, k, 0, comm, MPI_STATUS_IGNORE);
            fputs(text, stdout);
        }
    }
}

static int level_of(const char *word)
{
    return strcmp(word, "single") == 0       ? MPI_THREAD_SINGLE
           : strcmp(word, "funneled") == 0   ? MPI_THREAD_FUNNELED
           : strcmp(word, "serialized") == 0 ? MPI_THREAD_SERIALIZED
                                             : MPI_THREAD_MULTIPLE;
}

int main(int argc, char **argv)
{
    int given;
    if (argc > 1) {
        MPI_Init_thread(&argc, &argv, level_of(argv[1]), &given);
    } else {
        MPI_Init(&argc, &argv);
    }
    use(MPI_COMM_WORLD);
    send = calloc(2 * MOST * (size_t)size, sizeof(int));
    receive = calloc(2 * MOST * (size_t)size, sizeof(int));
    all_operations(0, 0);
    all_operations(1, 0);
    all_operations(MOST, size - 1);
    derived(16);
    ordered(16);
    between_groups(16);
    large_counts(16);
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    use(half);
    all_operations(16, 1);
    use(MPI_COMM_SELF);
    all_operations(16, 0);
    use(MPI_COMM_WORLD);
    MPI_Comm_free(&half);
    print();
    free(send);
    free(receive);
    MPI_Finalize();
    return 7;
}
