/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/app/edges.h"

#include "base/check.h"
#include "experiments/app/results.h"

enum { TAG_EDGES = 8701 };

/** What a rank has sent to another one. */
struct edge {
    long long to, messages, bytes;
};

static int by_receiver(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    return (x->to > y->to) - (x->to < y->to);
}

/** Totals sent by a rank, by receiver; to be freed. */
static struct edge *sent(const iso_executor_t *executor, int *count)
{
    struct edge *edges = ISO_NEW(struct edge, executor->channel_count);
    int used = 0, kept = 0;
    for (size_t k = 0; k < executor->channel_count; k++) {
        const iso_channel_t *channel = &executor->channels[k];
        if (channel->messages > 0) {
            edges[used++] =
                (struct edge){channel->peer, channel->messages, channel->bytes};
        }
    }
    qsort(edges, used, sizeof(*edges), by_receiver);
    for (int k = 0; k < used; k++) {
        if (kept > 0 && edges[k].to == edges[kept - 1].to) {
            edges[kept - 1].messages += edges[k].messages;
            edges[kept - 1].bytes += edges[k].bytes;
        } else {
            edges[kept++] = edges[k];
        }
    }
    *count = kept;
    return edges;
}

void iso_edges_hand_in(const iso_executor_t *executor)
{
    int count = 0;
    struct edge *edges = sent(executor, &count);
    MPI_CHECK(MPI_Send(edges, count * sizeof(*edges), MPI_BYTE, 0, TAG_EDGES,
                       executor->ctx->control));
    free(edges);
}

void iso_edges_record(const iso_context_t *ctx, const iso_program_t *program,
                      int app, const iso_executor_t *own, const int *job_ranks)
{
    for (int r = 0; r < program->apps[app].ranks; r++) {
        int count = 0;
        struct edge *edges;
        if (job_ranks[r] == 0) {
            edges = sent(own, &count);
        } else {
            edges = iso_results_receive(ctx, job_ranks[r], TAG_EDGES,
                                        sizeof(*edges), &count);
        }
        for (int k = 0; k < count; k++) {
            const struct edge *edge = &edges[k];
            ISO_RECORD(ctx->record, "edge", ("app", app), ("from", r),
                       ("to", edge->to), ("messages", edge->messages),
                       ("bytes", edge->bytes));
        }
        free(edges);
    }
}
