/* SPDX-License-Identifier: BSD-3-Clause */
#include "recorder/sequence.h"

#include "recording/map.h"
#include "recording/memory.h"

/* --- nodes ---------------------------------------------------------------- */

static void free_node(iso_node_t *node)
{
    for (int k = 0; k < node->length; k++) {
        free_node(node->body[k]);
    }
    iso_gap_free(&node->gap);
    free(node->body);
    free(node);
}

static bool equal(const iso_node_t *a, const iso_node_t *b)
{
    if (a->hash != b->hash || a->length != b->length || a->count != b->count) {
        return false;
    }
    for (int k = 0; k < a->length; k++) {
        if (!equal(a->body[k], b->body[k])) {
            return false;
        }
    }
    return a->length > 0 || memcmp(&a->event, &b->event, sizeof(a->event)) == 0;
}

static bool equal_parts(iso_node_t *const *a, iso_node_t *const *b, int length)
{
    for (int k = 0; k < length; k++) {
        if (!equal(a[k], b[k])) {
            return false;
        }
    }
    return true;
}

/**
 * The sum of nodes x1 … xn is x1 B**(n-1) + … + xn, so that the sum of a part
 * follows from those at its ends (Karp and Rabin, 1987): different parts are
 * distinguished without a comparison of their nodes.
 */
static const uint64_t BASE = 0xd1342543de82ef95u;

static uint64_t value_of(const iso_node_t *node)
{
    return iso_mix(3, node->hash);
}

/** Powers of B; all threads write the same. */
static uint64_t powers[ISO_WINDOW + 1];

/** Sum of the @a length nodes that end at an index; at most ISO_WINDOW. */
static uint64_t sum_of(iso_node_t *const *top, int end, int length)
{
    uint64_t before = end >= length ? top[end - length]->sum : 0;
    return top[end]->sum - before * powers[length];
}

static void hash_loop(iso_node_t *loop)
{
    loop->body_sum = 0;
    for (int k = 0; k < loop->length; k++) {
        loop->body_sum = loop->body_sum * BASE + value_of(loop->body[k]);
    }
    uint64_t hash = iso_mix(loop->body_sum, loop->count);
    loop->hash = hash >> 32;
    loop->tail = loop->body[loop->length - 1]->hash;
}

/** Number of loops that begin with the first call of a node. */
static int loops_at_head(const iso_node_t *node)
{
    return node->length ? 1 + loops_at_head(node->body[0]) : 0;
}

/**
 * Add the times of a node to those of an equal one.
 *
 * @param level  0, or the number of the loop, from within, by which its first
 *               call was reached
 */
static void merge(iso_node_t *node, const iso_node_t *other, int level)
{
    for (int k = 0; k < node->length; k++) {
        merge(node->body[k], other->body[k], k == 0 ? level : 0);
    }
    if (node->length) {
        return;
    }
    node->calls += other->calls;
    node->seconds += other->seconds;
    node->bytes += other->bytes;
    node->received += other->received;
    if (level) {
        iso_gap_merge_again(&node->gap, &other->gap, level);
    } else {
        iso_gap_merge(&node->gap, &other->gap);
    }
}

/** Add a further round of a loop to its body. */
static void merge_round(iso_node_t *const *body, iso_node_t *const *round,
                        int length)
{
    int level = 1 + loops_at_head(body[0]);
    for (int k = 0; k < length; k++) {
        merge(body[k], round[k], k == 0 ? level : 0);
    }
}

static long calls_of(const iso_node_t *node)
{
    long calls = node->length == 0;
    for (int k = 0; k < node->length; k++) {
        calls += calls_of(node->body[k]);
    }
    return calls;
}

/* --- the end of the sequence ---------------------------------------------- */

/** The bucket of an index: equal nodes after equal nodes. */
static int32_t *bucket_of(const iso_sequence_t *sequence, int index)
{
    uint64_t hash = sequence->top[index]->hash;
    hash = iso_mix(hash, index ? sequence->top[index - 1]->hash : 0);
    return &sequence->last[(hash >> 32) % ISO_BUCKETS];
}

static void push(iso_sequence_t *sequence, iso_node_t *node)
{
    ISO_GROW(sequence->top, sequence->used, sequence->room);
    sequence->top[sequence->used] = node;
    int32_t *last = bucket_of(sequence, sequence->used);
    node->same = *last;
    *last = sequence->used;
    if (node->length) {
        last = &sequence->last_loop[node->tail % ISO_BUCKETS];
        node->same_tail = *last;
        *last = sequence->used;
    }
    uint64_t before =
        sequence->used ? sequence->top[sequence->used - 1]->sum : 0;
    node->sum = before * BASE + value_of(node);
    sequence->used++;
}

static iso_node_t *pop(iso_sequence_t *sequence)
{
    iso_node_t *node = sequence->top[--sequence->used];
    *bucket_of(sequence, sequence->used) = node->same;
    if (node->length) {
        sequence->last_loop[node->tail % ISO_BUCKETS] = node->same_tail;
    }
    return node;
}

/** Remove the last nodes, whose times were added to others. */
static void drop(iso_sequence_t *sequence, int count)
{
    for (int k = 0; k < count; k++) {
        iso_node_t *node = pop(sequence);
        sequence->calls -= calls_of(node);
        free_node(node);
    }
}

/** Whether the last nodes are a further round of the loop before them. */
static bool continue_loop(iso_sequence_t *sequence)
{
    iso_node_t **top = sequence->top;
    int end = sequence->used - 1, attempts = ISO_ATTEMPTS;
    uint32_t hash = top[end]->hash;
    for (int j = sequence->last_loop[hash % ISO_BUCKETS]; j >= 0 && attempts--;
         j = top[j]->same_tail) {
        iso_node_t *loop = top[j];
        if (loop->length == end - j && loop->tail == hash &&
            loop->length <= ISO_WINDOW &&
            loop->body_sum == sum_of(top, end, loop->length) &&
            equal_parts(loop->body, &top[j + 1], loop->length)) {
            merge_round(loop->body, &top[j + 1], loop->length);
            drop(sequence, loop->length);
            pop(sequence);
            loop->count++;
            hash_loop(loop);
            push(sequence, loop);
            return true;
        }
    }
    return false;
}

/** Make a loop of the last @a length nodes and those before them. */
static void make_loop(iso_sequence_t *sequence, int length)
{
    iso_node_t **first = &sequence->top[sequence->used - 2 * length];
    iso_node_t *loop = iso_zeroed(sizeof(*loop));
    loop->count = 2;
    loop->length = length;
    loop->body = iso_resized(NULL, length * sizeof(*loop->body));
    memcpy(loop->body, first, length * sizeof(*loop->body));
    merge_round(first, first + length, length);
    drop(sequence, length);
    for (int k = 0; k < length; k++) {
        pop(sequence);
    }
    hash_loop(loop);
    push(sequence, loop);
}

/** Whether the last nodes repeat those before them. */
static bool begin_loop(iso_sequence_t *sequence)
{
    iso_node_t **top = sequence->top;
    int end = sequence->used - 1, attempts = ISO_ATTEMPTS;
    if (end > 0 && equal(top[end - 1], top[end])) {
        make_loop(sequence, 1);
        return true;
    }
    for (int j = top[end]->same; j >= 0 && attempts--; j = top[j]->same) {
        int length = end - j;
        if (length > ISO_WINDOW || length > j + 1) {
            return false;
        }
        if (sum_of(top, end, length) == sum_of(top, j, length) &&
            equal_parts(&top[j + 1 - length], &top[j + 1], length)) {
            make_loop(sequence, length);
            return true;
        }
    }
    return false;
}

/** Whether the last two nodes are loops around the same. */
static bool join_loops(iso_sequence_t *sequence)
{
    if (sequence->used < 2) {
        return false;
    }
    iso_node_t *last = sequence->top[sequence->used - 1];
    iso_node_t *before = sequence->top[sequence->used - 2];
    if (last->length == 0 || last->length != before->length ||
        !equal_parts(before->body, last->body, last->length)) {
        return false;
    }
    merge_round(before->body, last->body, last->length);
    long count = last->count;
    drop(sequence, 1);
    pop(sequence);
    before->count += count;
    hash_loop(before);
    push(sequence, before);
    return true;
}

static void fold(iso_sequence_t *sequence)
{
    while (continue_loop(sequence) || begin_loop(sequence) ||
           join_loops(sequence)) {
    }
}

/* --- less detail ---------------------------------------------------------- */

static void forget_places(iso_sequence_t *sequence)
{
    memset(sequence->last, 0xff, ISO_BUCKETS * sizeof(*sequence->last));
    memset(sequence->last_loop, 0xff,
           ISO_BUCKETS * sizeof(*sequence->last_loop));
}

static iso_event_t sizeless(iso_event_t event)
{
    event.bytes = event.received = 0;
    event.requests = 0;
    if (event.any && iso_op_effects[event.op] == ISO_BOTH) {
        event.source = ISO_NONE;
    } else if (event.any) {
        event.peer = ISO_NONE;
    }
    return event;
}

static iso_node_t *simpler(iso_node_t *node);

/** Fold nodes again, with less detail; takes ownership of them. */
static iso_sequence_t folded(iso_node_t **nodes, int count, long limit)
{
    iso_sequence_t sequence;
    iso_sequence_begin(&sequence, limit);
    for (int k = 0; k < count; k++) {
        iso_node_t *node = simpler(nodes[k]);
        sequence.calls += calls_of(node);
        push(&sequence, node);
        fold(&sequence);
    }
    return sequence;
}

/** Give a node less detail; a loop around a loop alone becomes one. */
static iso_node_t *simpler(iso_node_t *node)
{
    if (node->length == 0) {
        node->event = sizeless(node->event);
        node->hash = iso_event_hash(&node->event);
        return node;
    }
    iso_sequence_t body = folded(node->body, node->length, 0);
    free(node->body);
    node->body = body.top;
    node->length = body.used;
    body.top = NULL;
    body.used = 0;
    iso_sequence_end(&body);
    if (node->length == 1 && node->body[0]->length) {
        iso_node_t *inner = node->body[0], *head = inner;
        int level = loops_at_head(node);
        while (head->length) {
            head = head->body[0];
        }
        iso_gap_join(&head->gap, level);
        inner->count *= node->count;
        node->length = 0;
        free_node(node);
        node = inner;
    }
    hash_loop(node);
    return node;
}

static void give_up(iso_sequence_t *sequence)
{
    for (int k = 0; k < sequence->used; k++) {
        free_node(sequence->top[k]);
    }
    sequence->used = 0;
    sequence->calls = 0;
    sequence->detail = ISO_GIVEN_UP;
    forget_places(sequence);
}

/** Store less of each call, as there are too many different ones. */
static void keep_less(iso_sequence_t *sequence)
{
    if (sequence->detail == ISO_EXACT) {
        iso_sequence_t again =
            folded(sequence->top, sequence->used, sequence->limit);
        again.detail = ISO_SIZELESS;
        sequence->used = 0;
        iso_sequence_end(sequence);
        *sequence = again;
    }
    if (sequence->calls > sequence->limit / 2) {
        give_up(sequence);
    }
}

/* --- as a whole ----------------------------------------------------------- */

void iso_sequence_begin(iso_sequence_t *sequence, long limit)
{
    *sequence = (iso_sequence_t){.limit = limit};
    powers[0] = 1;
    for (int k = 1; k <= ISO_WINDOW; k++) {
        powers[k] = powers[k - 1] * BASE;
    }
    sequence->last = iso_resized(NULL, ISO_BUCKETS * sizeof(*sequence->last));
    sequence->last_loop =
        iso_resized(NULL, ISO_BUCKETS * sizeof(*sequence->last_loop));
    forget_places(sequence);
}

void iso_sequence_add(iso_sequence_t *sequence, const iso_event_t *event,
                      double gap, double seconds, int site)
{
    if (sequence->detail == ISO_GIVEN_UP) {
        return;
    }
    iso_node_t *node = iso_zeroed(sizeof(*node));
    node->event = sequence->detail == ISO_EXACT ? *event : sizeless(*event);
    node->hash = iso_event_hash(&node->event);
    node->site = site;
    node->calls = 1;
    node->seconds = seconds;
    node->bytes = event->bytes;
    node->received = event->received;
    node->gap = iso_gap(gap);
    sequence->calls++;
    push(sequence, node);
    fold(sequence);
    if (sequence->calls > sequence->limit) {
        keep_less(sequence);
    }
}

void iso_sequence_end(iso_sequence_t *sequence)
{
    for (int k = 0; k < sequence->used; k++) {
        free_node(sequence->top[k]);
    }
    free(sequence->top);
    free(sequence->last);
    free(sequence->last_loop);
    *sequence = (iso_sequence_t){.detail = ISO_GIVEN_UP};
}
