/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/app/edges.h"

#include "base/check.h"
#include "experiments/app/results.h"

enum { TAG_EDGES = 8701, TO = 0, MESSAGES, BYTES, MEMBERS };

static int by_first(const void *a, const void *b)
{
    const long long *x = a, *y = b;
    return (x[TO] > y[TO]) - (x[TO] < y[TO]);
}

/** Totals sent by a rank, by receiver: MEMBERS numbers each; to be freed. */
static long long *sent(const iso_executor_t *executor, int *count)
{
    long long *edges =
        iso_calloc(executor->channel_count, MEMBERS * sizeof(long long));
    size_t used = 0, kept = 0;
    for (size_t k = 0; k < executor->channel_count; k++) {
        const iso_channel_t *channel = &executor->channels[k];
        if (channel->messages > 0) {
            long long *edge = edges + MEMBERS * used++;
            edge[TO] = channel->peer;
            edge[MESSAGES] = channel->messages;
            edge[BYTES] = channel->bytes;
        }
    }
    qsort(edges, used, MEMBERS * sizeof(long long), by_first);
    for (size_t k = 1; k < used; k++) {
        long long *into = edges + MEMBERS * kept, *edge = edges + MEMBERS * k;
        if (edge[TO] == into[TO]) {
            into[MESSAGES] += edge[MESSAGES];
            into[BYTES] += edge[BYTES];
        } else {
            kept++;
            for (int m = 0; m < MEMBERS; m++) {
                edges[MEMBERS * kept + m] = edge[m];
            }
        }
    }
    *count = used > 0 ? (int)kept + 1 : 0;
    return edges;
}

void iso_edges_hand_in(const iso_executor_t *executor)
{
    int count = 0;
    long long *edges = sent(executor, &count);
    MPI_CHECK(MPI_Send(edges, MEMBERS * count * sizeof(*edges), MPI_BYTE, 0,
                       TAG_EDGES, executor->ctx->control));
    free(edges);
}

void iso_edges_record(const iso_context_t *ctx, const iso_program_t *program,
                      int app, const iso_executor_t *own, const int *job_ranks)
{
    for (int r = 0; r < program->apps[app].ranks; r++) {
        int count = 0;
        long long *edges;
        if (job_ranks[r] == 0) {
            edges = sent(own, &count);
        } else {
            edges = iso_results_receive(ctx, job_ranks[r], TAG_EDGES, &count);
            count /= MEMBERS * (int)sizeof(*edges);
        }
        for (int k = 0; k < count; k++) {
            const long long *edge = edges + MEMBERS * k;
            ISO_RECORD(ctx->record, "edge", ("app", app), ("from", r),
                       ("to", edge[TO]), ("messages", edge[MESSAGES]),
                       ("bytes", edge[BYTES]));
        }
        free(edges);
    }
}
