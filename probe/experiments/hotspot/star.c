/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/hotspot/star.h"

#include "base/check.h"

/* --- all nodes busy --------------------------------------------------------
 */

/* All nodes busy at once: who exchanges with whom.
 *
 * One process of each node takes part; they form a ring. With in = out = k
 * each sends to the next k and receives from the k before it, so that every
 * node has as much to do as the hot one. Where the two differ, nodes take
 * turns: a node that sends more lies between nodes that receive more. Of an
 * odd number of nodes the last has the smaller number both ways. */

/** Messages of one process of the ring: places of others in it. */
typedef struct {
    int receives, sends;
    int *from, *to; /**< room for the larger of in and out each */
} plan_t;

/**
 * List whom a process receives from and sends to.
 *
 * @param nodes    processes in the ring, one of each node
 * @param in, out  messages of the process at place 0; both below @a nodes
 * @param place    of the process that asks
 * @param plan     lists to fill
 */
static void plan_in_ring(int nodes, int in, int out, int place, plan_t *plan)
{
    int both = in < out ? in : out, more = (in > out ? in : out) - both;
    int pairs = nodes / 2, mine = place / 2;
    bool receiver = (place % 2 == 0) == (in > out);
    plan->receives = plan->sends = 0;
    for (int k = 1; k <= both; k++) {
        plan->from[plan->receives++] = (place + nodes - k) % nodes;
        plan->to[plan->sends++] = (place + k) % nodes;
    }
    if (place >= 2 * pairs) {
        return; /* the last of an odd number */
    }
    /* Senders and receivers alternate, so each pair of places has one of both:
     * a sender goes through the receivers, from that of its own pair on. */
    for (int k = 0; k < more; k++) {
        int other = (receiver ? mine + pairs - k % pairs : mine + k) % pairs;
        int parity = place % 2 == 0 ? 1 : 0;
        if (receiver) {
            plan->from[plan->receives++] = 2 * other + parity;
        } else {
            plan->to[plan->sends++] = 2 * other + parity;
        }
    }
}

/** Mean of the nodes' busier directions, as a part of that of place 0. */
static double ring_busy(int nodes, int in, int out)
{
    double less = in < out ? in : out, most = in < out ? out : in;
    double last = nodes % 2 ? less : most;
    return (most * (nodes - 1) + last) / (most * nodes);
}

/* --- the star --------------------------------------------------------------
 */

enum { TAG_DATA = 1302 };

/* --- who is what --------------------------------------------------------- */

static int most_ranks_node(const iso_context_t *ctx)
{
    int best = 0;
    int *count = ISO_NEW(int, ctx->nodes);
    for (int r = 0; r < ctx->size; r++) {
        count[ctx->node_of[r]]++;
    }
    for (int n = 1; n < ctx->nodes; n++) {
        best = count[n] > count[best] ? n : best;
    }
    free(count);
    return best;
}

/** Split the ranks: those of the hot node, and one of each other in turn. */
static void list_ranks(iso_star_t *star, int *inside, int *outside)
{
    int size = star->ctx->size;
    const int *node = star->ctx->node_of;
    int *turn = ISO_NEW(int, size);
    int *seen = ISO_NEW(int, star->ctx->nodes);
    int turns = 0;
    *inside = *outside = 0;
    for (int r = 0; r < size; r++) {
        turn[r] = seen[node[r]]++;
        turns = turn[r] >= turns ? turn[r] + 1 : turns;
        if (node[r] == star->hot_node) {
            star->inside[(*inside)++] = r;
        }
    }
    /* By turn, then by node: a counting sort, for there may be many ranks. */
    int *first = ISO_NEW(int, turns + 1);
    for (int r = 0; r < size; r++) {
        first[turn[r] + 1] += node[r] != star->hot_node;
    }
    for (int t = 0; t < turns; t++) {
        first[t + 1] += first[t];
    }
    for (int r = 0; r < size; r++) {
        if (node[r] != star->hot_node) {
            star->outside[first[turn[r]]++] = r;
            (*outside)++;
        }
    }
    free(first);
    free(seen);
    free(turn);
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

static void deal_roles(iso_star_t *star, int hot, int max_intra, int max_inter,
                       bool rings)
{
    int inside, outside;
    star->hot_node = most_ranks_node(star->ctx);
    star->other_nodes = star->ctx->nodes - 1;
    list_ranks(star, &inside, &outside);
    star->hot = hot <= inside ? hot : 0;
    if (star->hot) {
        star->reach_intra = least((inside - hot) / hot, max_intra);
        star->reach_inter = least(outside / hot, max_inter);
    }
    if (star->hot == 1 && rings) {
        star->reach_ring = least(star->other_nodes, max_inter);
    }
    star->role =
        iso_star_role(star, star->ctx->rank, &star->group, &star->index);
}

/** Where a rank is in a list of dealt-out partners; -1 if it is not. */
static int place_among(const int *ranks, int count, int rank)
{
    for (int k = 0; k < count; k++) {
        if (ranks[k] == rank) {
            return k;
        }
    }
    return -1;
}

iso_role_t iso_star_role(const iso_star_t *star, int rank, int *group,
                         int *index)
{
    int hot = star->hot;
    *group = *index = 0;
    if (hot == 0) {
        return ISO_ROLE_NONE;
    }
    int place = place_among(star->inside, hot * (1 + star->reach_intra), rank);
    iso_role_t role = place < hot ? ISO_ROLE_HOT : ISO_ROLE_INTRA;
    if (place < 0) {
        place = place_among(star->outside, hot * star->reach_inter, rank);
        role = place < 0 ? ISO_ROLE_NONE : ISO_ROLE_INTER;
    } else if (role == ISO_ROLE_INTRA) {
        place -= hot;
    }
    if (place >= 0) {
        *group = place % hot;
        *index = role == ISO_ROLE_HOT ? 0 : place / hot;
    }
    return role;
}

/** Partner number @a index of a star. */
static int intra_partner(const iso_star_t *star, int group, int index)
{
    return star->inside[star->hot * (1 + index) + group];
}

static int inter_partner(const iso_star_t *star, int group, int index)
{
    return star->outside[star->hot * index + group];
}

int iso_star_team(iso_star_t *star, const iso_star_point_t *point)
{
    int count = 0;
    if (point->ring) {
        for (int k = 0; k <= point->intra; k++) {
            star->team[count++] = star->inside[k];
        }
        for (int k = 0; k < star->other_nodes; k++) {
            star->team[count++] = star->outside[k];
        }
        return count;
    }
    int inter = point->in > point->out ? point->in : point->out;
    for (int g = 0; g < star->hot; g++) {
        star->team[count++] = star->inside[g];
        for (int k = 0; k < point->intra; k++) {
            star->team[count++] = intra_partner(star, g, k);
        }
        for (int k = 0; k < inter; k++) {
            star->team[count++] = inter_partner(star, g, k);
        }
    }
    return count;
}

/** Messages in the busier direction of each node that is not hot, summed. */
static int others_busy(const iso_star_t *star, const iso_star_point_t *point)
{
    int sum = 0, inter = point->in > point->out ? point->in : point->out;
    int *into = ISO_NEW(int, star->other_nodes + 1);
    int *from = ISO_NEW(int, star->other_nodes + 1);
    for (int k = 0; k < star->hot * inter; k++) {
        int node = star->ctx->node_of[star->outside[k]], index = k / star->hot;
        from[node] += index < point->in;
        into[node] += index < point->out;
    }
    for (int n = 0; n <= star->other_nodes; n++) {
        sum += into[n] > from[n] ? into[n] : from[n];
    }
    free(from);
    free(into);
    return sum;
}

double iso_star_busy(const iso_star_t *star, const iso_star_point_t *point)
{
    int nodes = star->other_nodes + 1;
    int most = star->hot * (point->in > point->out ? point->in : point->out);
    if (most == 0) {
        return 0;
    }
    if (point->ring) {
        return ring_busy(nodes, point->in, point->out);
    }
    return (most + others_busy(star, point)) / (most * (double)nodes);
}

/* --- buffers ------------------------------------------------------------- */

/** Messages each way of this rank, at most. It has a buffer for each of them:
 *  no two receives may share one, and data that is sent to several would stay
 *  in cache. */
static size_t slots_of(const iso_star_t *star)
{
    int rank = star->ctx->rank, heads = star->other_nodes;
    bool in_ring =
        star->reach_ring > 0 && (star->inside[0] == rank ||
                                 place_among(star->outside, heads, rank) >= 0);
    int slots = star->role == ISO_ROLE_NONE ? 0 : 1;
    if (star->role == ISO_ROLE_HOT) { /* which reaches no less in a ring */
        slots = star->reach_intra + star->reach_inter;
    }
    return in_ring && star->reach_ring > slots ? star->reach_ring : slots;
}

void iso_star_init(iso_star_t *star, const iso_context_t *ctx, int hot,
                   int max_intra, int max_inter, bool rings, int bytes)
{
    size_t size = ctx->size;
    memset(star, 0, sizeof(*star));
    star->ctx = ctx;
    star->inside = ISO_NEW(int, size);
    star->outside = ISO_NEW(int, size);
    star->team = ISO_NEW(int, size);
    deal_roles(star, hot, max_intra, max_inter, rings);
    size_t slots = slots_of(star);
    if (slots > 0) {
        star->out_buffer = iso_touched(slots * (bytes > 0 ? bytes : 1));
        star->in_buffer = iso_touched(slots * (bytes > 0 ? bytes : 1));
        star->requests = ISO_NEW(MPI_Request, 2 * slots);
        star->statuses = ISO_NEW(MPI_Status, 2 * slots);
    }
}

void iso_star_free(iso_star_t *star)
{
    free(star->statuses);
    free(star->requests);
    free(star->in_buffer);
    free(star->out_buffer);
    free(star->team);
    free(star->outside);
    free(star->inside);
}

/* --- timed loops ------------------------------------------------------- */

static void reverse(int *list, int count)
{
    for (int k = 0; k < count / 2; k++) {
        int other = list[k];
        list[k] = list[count - 1 - k];
        list[count - 1 - k] = other;
    }
}

/** The rank at a place of the ring; the hot process is at place 0. */
static int at_place(const iso_star_t *star, int place)
{
    return place ? star->outside[place - 1] : star->inside[0];
}

/** Messages of this rank where all nodes are busy; those inside the hot node
 *  come first. */
static void plan_ring(const iso_star_t *star, const iso_star_point_t *point,
                      plan_t *plan)
{
    int rank = star->ctx->rank, hot = star->inside[0];
    if (star->role == ISO_ROLE_INTRA) {
        plan->receives = plan->sends = 1;
        plan->from[0] = plan->to[0] = hot;
        return;
    }
    int place = 1 + place_among(star->outside, star->other_nodes, rank);
    int inside = rank == hot ? point->intra : 0;
    for (int k = 0; k < inside; k++) {
        plan->from[k] = plan->to[k] = intra_partner(star, 0, k);
    }
    plan_t ring = {.from = plan->from + inside, .to = plan->to + inside};
    plan_in_ring(star->other_nodes + 1, point->in, point->out, place, &ring);
    for (int k = 0; k < ring.receives; k++) {
        ring.from[k] = at_place(star, ring.from[k]);
    }
    for (int k = 0; k < ring.sends; k++) {
        ring.to[k] = at_place(star, ring.to[k]);
    }
    plan->receives = inside + ring.receives;
    plan->sends = inside + ring.sends;
}

/** Messages of this rank where one node is hot. */
static void plan_star(const iso_star_t *star, const iso_star_point_t *point,
                      plan_t *plan)
{
    int g = star->group, middle = star->inside[g];
    if (star->role == ISO_ROLE_HOT) {
        for (int k = 0; k < point->intra; k++) {
            int partner = intra_partner(star, g, k);
            plan->from[plan->receives++] = partner;
            plan->to[plan->sends++] = partner;
        }
        for (int k = 0; k < point->in; k++) {
            plan->from[plan->receives++] = inter_partner(star, g, k);
        }
        for (int k = 0; k < point->out; k++) {
            plan->to[plan->sends++] = inter_partner(star, g, k);
        }
    } else {
        bool inside = star->role == ISO_ROLE_INTRA;
        if (inside || star->index < point->out) {
            plan->from[plan->receives++] = middle;
        }
        if (inside || star->index < point->in) {
            plan->to[plan->sends++] = middle;
        }
    }
}

/** The messages of this rank at a point, in the order they are posted. */
static plan_t make_plan(const iso_star_t *star, const iso_star_point_t *point)
{
    size_t room = star->reach_intra + star->reach_inter + 1;
    plan_t plan = {.from = ISO_NEW(int, room), .to = ISO_NEW(int, room)};
    if (point->ring) { /* its reach is no larger than that of a star */
        plan_ring(star, point, &plan);
    } else {
        plan_star(star, point, &plan);
    }
    if (point->inter_first) {
        reverse(plan.from, plan.receives);
        reverse(plan.to, plan.sends);
    }
    return plan;
}

/** The operation: all receives, then all sends, then wait for all. */
static void exchange(const iso_star_t *star, const plan_t *plan, int bytes)
{
    MPI_Comm comm = star->ctx->comm;
    MPI_Request *request = star->requests;
    for (int k = 0; k < plan->receives; k++) {
        MPI_Irecv(star->in_buffer + k * bytes, bytes, MPI_BYTE, plan->from[k],
                  TAG_DATA, comm, request++);
    }
    for (int k = 0; k < plan->sends; k++) {
        MPI_Isend(star->out_buffer + k * bytes, bytes, MPI_BYTE, plan->to[k],
                  TAG_DATA, comm, request++);
    }
    MPI_Waitall(plan->receives + plan->sends, star->requests, star->statuses);
}

void iso_star_measure(iso_star_t *star, const iso_star_point_t *point,
                      int samples, int batch, double *seconds)
{
    int count = iso_star_team(star, point);
    int place = place_among(star->team, count, star->ctx->rank);
    plan_t plan = make_plan(star, point);
    long steps = iso_clock_state.steps;
    for (int k = 0; k < samples; k++) {
        iso_subset_barrier(star->ctx->control, star->team, count, place);
        double start = iso_now();
        for (int b = 0; b < batch; b++) {
            exchange(star, &plan, point->bytes);
        }
        seconds[k] = iso_now() - start;
    }
    iso_clock_void(seconds, samples, steps);
    free(plan.to);
    free(plan.from);
}
