/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/tile_io/aggregators.h"

#include "base/check.h"
#include "machine/plain.h"

static bool holds(const int *list, int count, long rank)
{
    for (int k = 0; k < count; k++) {
        if (list[k] == rank) {
            return true;
        }
    }
    return false;
}

int iso_aggregators_parse(const char *text, int ranks, int *list, char *error)
{
    int count = 0;
    for (const char *rest = text;; rest++) {
        char *end;
        long rank = strtol(rest, &end, 10);
        if (end == rest || (*end && *end != ',') || rank < 0 || rank >= ranks ||
            holds(list, count, rank)) {
            return ISO_REFUSE(
                error,
                "--aggregators is '%.60s', not a list of ranks below %d, "
                "each once, such as 0,4,8",
                text, ranks);
        }
        list[count++] = (int)rank;
        rest = end;
        if (*rest == '\0') {
            return count;
        }
    }
}

int *iso_aggregators_one_a_node(const iso_context_t *ctx, int *count)
{
    int *node = iso_calloc((size_t)ctx->size, sizeof(int));
    int *first = iso_calloc((size_t)ctx->size, sizeof(int));
    iso_plain_allgather(ctx->control, &ctx->node, sizeof(int), node);
    *count = 0;
    for (int r = 0; r < ctx->size; r++) {
        if (node[r] == *count) { /* nodes are numbered as ranks meet them */
            first[(*count)++] = r;
        }
    }
    free(node);
    return first;
}
