/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/latency_map/schedule.h"

#include "base/check.h"

struct iso_schedule {
    iso_schedule_order_t order;
    int ranks, nodes;
    int inner_parallel;
    int *members; /**< ranks, grouped by node */
    int *first;   /**< members of node a: first[a] .. first[a + 1] - 1 */
    int within;   /**< isolated: rounds inside the nodes are still to come */
    int round;    /**< round of the tournament, or of the pairs in a node */
    int step;     /**< isolated: pair within two nodes that meet; serial: j */
};

/**
 * Pair number k of round r in a tournament of n players, by the circle method
 * (T. P. Kirkman, 1847): one player stays, the others move round.
 *
 * @param k  0 .. (n + 1) / 2 - 1
 * @return 0 if this pair contains the dummy player of an odd n
 */
static int tournament_pair(int n, int round, int k, int *a, int *b)
{
    int m = n + n % 2;
    int left = k == 0 ? m - 1 : (round + k) % (m - 1);
    int right = (round + m - 1 - k) % (m - 1);
    *a = left < right ? left : right;
    *b = left < right ? right : left;
    return *b < n;
}

static int tournament_rounds(int n)
{
    return n < 2 ? 0 : n - 1 + n % 2;
}

void iso_serial_pair(int n, int k, int *a, int *b)
{
    int row = 0;
    while (k >= n - 1 - row) {
        k -= n - 1 - row;
        row++;
    }
    *a = row;
    *b = row + 1 + k;
}

iso_pair_t iso_pair_of(int a, int b)
{
    iso_pair_t pair = {a < b ? a : b, a < b ? b : a};
    return pair;
}

static int node_size(const iso_schedule_t *s, int node)
{
    return s->first[node + 1] - s->first[node];
}

int iso_group_by_node(int ranks, const int node_of_rank[], int **first,
                      int **members)
{
    int nodes = 0;
    for (int r = 0; r < ranks; r++) {
        nodes = node_of_rank[r] >= nodes ? node_of_rank[r] + 1 : nodes;
    }
    int *at = ISO_NEW(int, nodes + 2);
    int *found = ISO_NEW(int, ranks);
    for (int r = 0; r < ranks; r++) {
        at[node_of_rank[r] + 2]++;
    }
    for (int n = 2; n <= nodes; n++) {
        at[n] += at[n - 1];
    }
    for (int r = 0; r < ranks; r++) {
        found[at[node_of_rank[r] + 1]++] = r;
    }
    *first = at;
    *members = found;
    return nodes;
}

iso_schedule_t *iso_schedule_create(iso_schedule_order_t order, int ranks,
                                    const int node_of_rank[],
                                    int inner_parallel)
{
    iso_schedule_t *s = ISO_NEW(iso_schedule_t, 1);
    s->order = order;
    s->ranks = ranks;
    s->inner_parallel = inner_parallel;
    s->within = 1;
    if (order == ISO_SCHEDULE_ISOLATED) {
        s->nodes =
            iso_group_by_node(ranks, node_of_rank, &s->first, &s->members);
    }
    return s;
}

static int next_serial(iso_schedule_t *s, iso_pair_t *pairs)
{
    int i = s->round, j = i + 1 + s->step;
    if (i >= s->ranks - 1) {
        return 0;
    }
    pairs[0] = iso_pair_of(i, j);
    if (j + 1 < s->ranks) {
        s->step++;
    } else {
        s->round++;
        s->step = 0;
    }
    return 1;
}

static int next_rounds(iso_schedule_t *s, iso_pair_t *pairs)
{
    if (s->round >= tournament_rounds(s->ranks)) {
        return 0;
    }
    int count = 0;
    for (int k = 0; k < (s->ranks + 1) / 2; k++) {
        int a, b;
        if (tournament_pair(s->ranks, s->round, k, &a, &b)) {
            pairs[count++] = iso_pair_of(a, b);
        }
    }
    s->round++;
    return count;
}

/** One round of pairs inside the nodes; 0 when all nodes are through. */
static int next_within(iso_schedule_t *s, iso_pair_t *pairs)
{
    int count = 0;
    for (int node = 0; node < s->nodes; node++) {
        const int *member = s->members + s->first[node];
        int n = node_size(s, node), a, b;
        if (!s->inner_parallel) {
            if (s->round < n * (n - 1) / 2) {
                iso_serial_pair(n, s->round, &a, &b);
                pairs[count++] = iso_pair_of(member[a], member[b]);
            }
            continue;
        }
        for (int k = 0; s->round < tournament_rounds(n) && k < (n + 1) / 2;
             k++) {
            if (tournament_pair(n, s->round, k, &a, &b)) {
                pairs[count++] = iso_pair_of(member[a], member[b]);
            }
        }
    }
    s->round++;
    return count;
}

/** Pair number s->step between all nodes that meet in round s->round. */
static int next_between(iso_schedule_t *s, iso_pair_t *pairs)
{
    int count = 0;
    for (int k = 0; k < (s->nodes + 1) / 2; k++) {
        int a, b;
        if (!tournament_pair(s->nodes, s->round, k, &a, &b)) {
            continue;
        }
        int width = node_size(s, b);
        if (s->step < node_size(s, a) * width) {
            int left = s->members[s->first[a] + s->step / width];
            int right = s->members[s->first[b] + s->step % width];
            pairs[count++] = iso_pair_of(left, right);
        }
    }
    return count;
}

static int next_isolated(iso_schedule_t *s, iso_pair_t *pairs)
{
    if (s->within) {
        int count = next_within(s, pairs);
        if (count) {
            return count;
        }
        s->within = 0;
        s->round = 0;
    }
    while (s->round < tournament_rounds(s->nodes)) {
        int count = next_between(s, pairs);
        s->step++;
        if (count) {
            return count;
        }
        s->round++;
        s->step = 0;
    }
    return 0;
}

int iso_schedule_next(iso_schedule_t *s, iso_pair_t *pairs)
{
    switch (s->order) {
    case ISO_SCHEDULE_SERIAL:
        return next_serial(s, pairs);
    case ISO_SCHEDULE_ROUNDS:
        return next_rounds(s, pairs);
    case ISO_SCHEDULE_ISOLATED:
        return next_isolated(s, pairs);
    }
    return 0;
}

iso_schedule_order_t iso_schedule_order(const char *name)
{
    return strcmp(name, "serial") == 0   ? ISO_SCHEDULE_SERIAL
           : strcmp(name, "rounds") == 0 ? ISO_SCHEDULE_ROUNDS
                                         : ISO_SCHEDULE_ISOLATED;
}

void iso_schedule_free(iso_schedule_t *s)
{
    if (s) {
        free(s->members);
        free(s->first);
        free(s);
    }
}
