/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file scripted.c
 * A program that makes the MPI calls it is told to.
 *
 *     scripted FOLDER [LEVEL]
 *
 * FOLDER/RANK holds one instruction a line: a word and up to five numbers. The
 * first is the communicator in most; 0 is MPI_COMM_WORLD, each `split COLOUR
 * KEY` of the world makes the next. Requests are numbered by the script.
 * `repeat N` … `end` may be nested.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 100000, REQUESTS = 64, COMMS = 64, BUFFER = 1 << 20 };

typedef struct line {
    char word[32];
    int a, b, c, d, e;
} line_t;

static line_t *lines;
static int line_count, comm_count = 1;
static MPI_Comm comms[COMMS];
static MPI_Request requests[REQUESTS];
static char in[BUFFER], out[BUFFER], buffered[BUFFER];
static int counts[1024], places[1024];

static int is(const line_t *line, const char *word)
{
    return strcmp(line->word, word) == 0;
}

/* a: communicator, b: partner, c: bytes, d: tag, e: request */
static int message(const line_t *l)
{
    MPI_Comm comm = comms[l->a];
    MPI_Request *request = &requests[l->e];
    int count = l->c;
    if (is(l, "send")) {
        MPI_Send(out, count, MPI_BYTE, l->b, l->d, comm);
    } else if (is(l, "ssend")) {
        MPI_Ssend(out, count, MPI_BYTE, l->b, l->d, comm);
    } else if (is(l, "bsend")) {
        MPI_Bsend(out, count, MPI_BYTE, l->b, l->d, comm);
    } else if (is(l, "isend")) {
        MPI_Isend(out, count, MPI_BYTE, l->b, l->d, comm, request);
    } else if (is(l, "issend")) {
        MPI_Issend(out, count, MPI_BYTE, l->b, l->d, comm, request);
    } else if (is(l, "send_init")) {
        MPI_Send_init(out, count, MPI_BYTE, l->b, l->d, comm, request);
    } else if (is(l, "recv")) {
        MPI_Recv(in, BUFFER, MPI_BYTE, l->b, l->d, comm, MPI_STATUS_IGNORE);
    } else if (is(l, "recv_any")) {
        MPI_Recv(in, BUFFER, MPI_BYTE, MPI_ANY_SOURCE, l->d, comm,
                 MPI_STATUS_IGNORE);
    } else if (is(l, "probe_recv")) {
        MPI_Message found;
        MPI_Mprobe(l->b, l->d, comm, &found, MPI_STATUS_IGNORE);
        MPI_Mrecv(in, BUFFER, MPI_BYTE, &found, MPI_STATUS_IGNORE);
    } else if (is(l, "irecv")) {
        MPI_Irecv(in, count, MPI_BYTE, l->b, l->d, comm, request);
    } else if (is(l, "recv_init")) {
        MPI_Recv_init(in, count, MPI_BYTE, l->b, l->d, comm, request);
    } else if (is(l, "sendrecv")) { /* b: to, e: from */
        MPI_Sendrecv(out, count, MPI_BYTE, l->b, l->d, in, BUFFER, MPI_BYTE,
                     l->e, l->d, comm, MPI_STATUS_IGNORE);
    } else {
        return 0;
    }
    return 1;
}

/* a: first request, b: how many */
static int completion(const line_t *l)
{
    int flag = 0, index = 0;
    if (is(l, "wait")) {
        MPI_Wait(&requests[l->a], MPI_STATUS_IGNORE);
    } else if (is(l, "waitall")) {
        MPI_Waitall(l->b, &requests[l->a], MPI_STATUSES_IGNORE);
    } else if (is(l, "waitany")) {
        MPI_Waitany(l->b, &requests[l->a], &index, MPI_STATUS_IGNORE);
    } else if (is(l, "test")) {
        while (!flag) {
            MPI_Test(&requests[l->a], &flag, MPI_STATUS_IGNORE);
        }
    } else if (is(l, "start")) {
        MPI_Start(&requests[l->a]);
    } else if (is(l, "startall")) {
        MPI_Startall(l->b, &requests[l->a]);
    } else if (is(l, "request_free")) {
        MPI_Request_free(&requests[l->a]);
    } else {
        return 0;
    }
    return 1;
}

/* a: communicator, b: bytes, c: root, e: request */
static int collective(const line_t *l)
{
    MPI_Comm comm = comms[l->a];
    MPI_Request *request = &requests[l->e];
    int n = l->b, size;
    MPI_Comm_size(comm, &size);
    for (int k = 0; k < size; k++) { /* blocks of 0, 2n, 0, 2n … bytes */
        counts[k] = size % 2 ? n : k % 2 * 2 * n;
        places[k] = k * 2 * n;
    }
    if (is(l, "barrier")) {
        MPI_Barrier(comm);
    } else if (is(l, "bcast")) {
        MPI_Bcast(out, n, MPI_BYTE, l->c, comm);
    } else if (is(l, "gather")) {
        MPI_Gather(out, n, MPI_BYTE, in, n, MPI_BYTE, l->c, comm);
    } else if (is(l, "scatter")) {
        MPI_Scatter(out, n, MPI_BYTE, in, n, MPI_BYTE, l->c, comm);
    } else if (is(l, "reduce")) {
        MPI_Reduce(out, in, n, MPI_CHAR, MPI_BOR, l->c, comm);
    } else if (is(l, "allreduce")) {
        MPI_Allreduce(MPI_IN_PLACE, in, n, MPI_CHAR, MPI_BOR, comm);
    } else if (is(l, "allgather")) {
        MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, n, MPI_BYTE,
                      comm);
    } else if (is(l, "alltoall")) {
        MPI_Alltoall(out, n, MPI_BYTE, in, n, MPI_BYTE, comm);
    } else if (is(l, "alltoallv")) {
        int rank;
        MPI_Comm_rank(comm, &rank);
        for (int k = 0; k < size; k++) {
            counts[k] = n; /* the same of all, as both sides must agree */
        }
        MPI_Alltoallv(out, counts, places, MPI_BYTE, in, counts, places,
                      MPI_BYTE, comm);
    } else if (is(l, "allgatherv")) {
        MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, counts, places,
                       MPI_BYTE, comm);
    } else if (is(l, "reduce_scatter_block")) {
        MPI_Reduce_scatter_block(out, in, n, MPI_CHAR, MPI_BOR, comm);
    } else if (is(l, "scan")) {
        MPI_Scan(out, in, n, MPI_CHAR, MPI_BOR, comm);
    } else if (is(l, "ibarrier")) {
        MPI_Ibarrier(comm, request);
    } else if (is(l, "ibcast")) {
        MPI_Ibcast(out, n, MPI_BYTE, l->c, comm, request);
    } else if (is(l, "iallreduce")) {
        MPI_Iallreduce(out, in, n, MPI_CHAR, MPI_BOR, comm, request);
    } else {
        return 0;
    }
    return 1;
}

static void run(int from, int to)
{
    for (int k = from; k < to; k++) {
        const line_t *line = &lines[k];
        if (is(line, "repeat")) {
            int depth = 1, last = k;
            while (depth) {
                last++;
                depth += is(&lines[last], "repeat") - is(&lines[last], "end");
            }
            for (int n = 0; n < line->a; n++) {
                run(k + 1, last);
            }
            k = last;
        } else if (is(line, "split")) {
            MPI_Comm_split(MPI_COMM_WORLD, line->a, line->b,
                           &comms[comm_count++]);
        } else if (!message(line) && !completion(line) && !collective(line)) {
            fprintf(stderr, "scripted: no instruction '%s'\n", line->word);
            MPI_Abort(MPI_COMM_WORLD, 1);
            exit(1); /* on a loaded machine MPICH comes back from it */
        }
    }
}

static void read_script(const char *folder, int rank)
{
    char path[4096], text[128];
    snprintf(path, sizeof(path), "%s/%d", folder, rank);
    FILE *file = fopen(path, "r");
    lines = calloc(MOST, sizeof(*lines));
    while (file && line_count < MOST && fgets(text, sizeof(text), file)) {
        line_t *l = &lines[line_count++];
        sscanf(text, "%31s %d %d %d %d %d", l->word, &l->a, &l->b, &l->c, &l->d,
               &l->e);
    }
    if (file) {
        fclose(file);
    }
}

int main(int argc, char **argv)
{
    int rank, given = 0;
    char *rest;
    if (argc > 2) {
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
    } else {
        MPI_Init(&argc, &argv);
    }
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Buffer_attach(buffered, BUFFER);
    read_script(argv[1], rank);
    run(0, line_count);
    MPI_Buffer_detach(&rest, &given);
    for (int k = 1; k < comm_count; k++) {
        MPI_Comm_free(&comms[k]);
    }
    free(lines);
    MPI_Finalize();
    return 0;
}
