/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/latency_map/sample.h"

#include "base/check.h"
#include "base/random.h"

#include <math.h>

/** Nodes of which all pairs within are measured in any case. */
enum { FULL_NODES = 4 };

/** Partners of each node that "auto" asks for at least. */
enum { PARTNERS = 64 };

/** Rounds in which nodes meet those whose numbers are next to theirs, and those
 *  after the next; at most, and in at most half of the rounds. */
enum { NEAR_ROUNDS = 4 };

/** Part of the sample that pairs within nodes may take. */
static const double INNER_PART = 0.2;

struct iso_sample {
    int nodes;
    int *members, *first; /**< as in schedule.c */
    int *place;           /**< of each node in the tournament */
    int *at;              /**< node at each place; -1: the dummy */
    int players;          /**< of the tournament, even */
    int *order;           /**< of its rounds */
    int all_inner;        /**< all pairs of all nodes are measured */
    long inner, outer;    /**< rounds within nodes and between them */
    long near;            /**< the first of those between them */
};

long iso_sample_pairs(const char *text, int ranks, int nodes)
{
    double all = (double)ranks * (ranks - 1) / 2;
    char *end;
    if (strcmp(text, "auto") == 0) {
        double met = fmin(nodes - 1, fmax(PARTNERS, (nodes - 1) / 2.0));
        return (long)ceil(nodes * met / 2 / (1 - INNER_PART));
    }
    double value = strtod(text, &end);
    if (end == text || !(value > 0)) {
        return -1;
    }
    if (strcmp(end, "%") == 0 && value <= 100) {
        return (long)ceil(value / 100 * all);
    }
    return *end == 0 && value == floor(value) && value >= 1
               ? (long)fmin(value, all)
               : -1;
}

/* --- setting up ---------------------------------------------------------- */

static int node_size(const iso_sample_t *s, int node)
{
    return s->first[node + 1] - s->first[node];
}

/** Rounds within nodes, and how many pairs they are. */
static long plan_inner(iso_sample_t *s, long pairs)
{
    double all = 0;
    long some = 0;
    for (int n = 0; n < s->nodes; n++) {
        all += (double)node_size(s, n) * (node_size(s, n) - 1) / 2;
    }
    s->all_inner = all <= INNER_PART * pairs;
    for (int n = 0; n < s->nodes; n++) {
        long size = node_size(s, n);
        int full = s->all_inner || s->place[n] < FULL_NODES;
        long own = full ? size * (size - 1) / 2 : size / 2;
        s->inner = own > s->inner ? own : s->inner;
        some += own;
    }
    return some;
}

iso_sample_t *iso_sample_create(int ranks, const int node_of_rank[], long pairs)
{
    iso_sample_t *s = ISO_NEW(iso_sample_t, 1);
    uint64_t state = 1;
    s->nodes = iso_group_by_node(ranks, node_of_rank, &s->first, &s->members);
    s->players = s->nodes + s->nodes % 2;
    s->at = ISO_NEW(int, s->players);
    iso_random_order(s->at, s->players, &state);
    s->place = ISO_NEW(int, s->players + 1);
    for (int p = 0; p < s->players; p++) {
        s->place[s->at[p]] = p;
        s->at[p] = s->at[p] < s->nodes ? s->at[p] : -1;
    }
    s->order = ISO_NEW(int, s->players);
    iso_random_order(s->order, s->players - 1, &state);
    long left = pairs - plan_inner(s, pairs);
    long largest = 0;
    for (int n = 0; n < s->nodes; n++) {
        largest = node_size(s, n) > largest ? node_size(s, n) : largest;
    }
    if (s->nodes > 1) {
        long a_round = s->nodes / 2;
        long most = (s->players - 1) * largest * largest;
        s->outer = left > a_round ? (left + a_round - 1) / a_round : 1;
        s->outer = s->outer < most ? s->outer : most;
        s->near =
            (s->outer + 1) / 2 < NEAR_ROUNDS ? (s->outer + 1) / 2 : NEAR_ROUNDS;
    }
    return s;
}

/* --- one pair ------------------------------------------------------------ */

static int inner_pair(const iso_sample_t *s, long round, int node,
                      iso_pair_t *pair)
{
    const int *member = s->members + s->first[node];
    int size = node_size(s, node);
    if (!s->all_inner && s->place[node] >= FULL_NODES) {
        uint64_t state = (uint64_t)node + 1;
        int turn = iso_random_below(&state, size);
        if (round >= size / 2) {
            return 0;
        }
        *pair = iso_pair_of(member[(2 * round + turn) % size],
                            member[(2 * round + 1 + turn) % size]);
        return 1;
    }
    if (round >= (long)size * (size - 1) / 2) {
        return 0;
    }
    int a, b;
    iso_serial_pair(size, round, &a, &b);
    *pair = iso_pair_of(member[a], member[b]);
    return 1;
}

/** Whom a player meets in a round of the tournament (circle method). */
static int opponent(const iso_sample_t *s, int player, int round)
{
    int last = s->players - 1;
    if (player == last) {
        return round;
    }
    return player == round ? last : (2 * round - player + 2 * last) % last;
}

static int common_divisor(int a, int b)
{
    return b == 0 ? a : common_divisor(b, a % b);
}

/** Whom a node meets in a round of near nodes. */
static int near_node(long round, int node)
{
    int distance = 1 + (int)round / 2;
    return node + (node / distance % 2 == round % 2 ? distance : -distance);
}

/** Whether two nodes meet in a round of near nodes. */
static int are_near(const iso_sample_t *s, int a, int b)
{
    for (long round = 0; round < s->near; round++) {
        if (near_node(round, a) == b) {
            return 1;
        }
    }
    return 0;
}

static int outer_pair(const iso_sample_t *s, long round, int node,
                      iso_pair_t *pair)
{
    int turns = s->players - 1, near = round < s->near;
    long far = near ? 0 : round - s->near;
    int other = near
                    ? near_node(round, node)
                    : s->at[opponent(s, s->place[node], s->order[far % turns])];
    if (other < 0 || other >= s->nodes) {
        return 0;
    }
    int a = node < other ? node : other, b = node < other ? other : node;
    int width = node_size(s, b), all = node_size(s, a) * width;
    long visit = near ? all - 1 : far / turns;
    if (visit >= all - (!near && are_near(s, a, b))) {
        return 0;
    }
    uint64_t state = a * (uint64_t)s->nodes + b;
    int step = width + 1; /* to another rank of either */
    while (common_divisor(step, all) > 1) {
        step++;
    }
    int first = iso_random_below(&state, all);
    int chosen = (first + visit * step) % all;
    *pair = iso_pair_of(s->members[s->first[a] + chosen / width],
                        s->members[s->first[b] + chosen % width]);
    return 1;
}

long iso_sample_rounds(const iso_sample_t *s)
{
    return s->inner + s->outer;
}

int iso_sample_pair(const iso_sample_t *s, long round, int node,
                    iso_pair_t *pair)
{
    if (round < s->inner) {
        return inner_pair(s, round, node, pair);
    }
    return outer_pair(s, round - s->inner, node, pair);
}

void iso_sample_free(iso_sample_t *s)
{
    if (s) {
        free(s->members);
        free(s->first);
        free(s->place);
        free(s->at);
        free(s->order);
        free(s);
    }
}
