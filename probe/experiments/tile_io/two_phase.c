/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/tile_io/two_phase.h"

#include "base/check.h"

enum { TAG_DATA = 1303, PATTERN = 7 };

/* --- domains ------------------------------------------------------------- */

iso_domains_t iso_domains_make(long long file, int count, int *rank,
                               long long buffer)
{
    iso_domains_t domains = {.count = count, .rank = rank, .file = file};
    domains.length = (file + count - 1) / count;
    domains.buffer = buffer;
    domains.rounds = (domains.length + buffer - 1) / buffer;
    return domains;
}

void iso_domains_parts(const iso_domains_t *domains, const iso_tiling_t *tiling,
                       int rank,
                       void (*take)(void *data, const iso_part_t *part),
                       void *data)
{
    long long length = (long long)tiling->width * tiling->element, at = 0;
    for (int row = 0; row < tiling->height; row++) {
        long long offset = iso_tiling_offset(tiling, rank, row);
        long long end = offset + length;
        while (offset < end) {
            iso_part_t part = {.offset = offset, .at = at};
            part.domain = offset / domains->length;
            long long begin = part.domain * domains->length;
            part.round = (offset - begin) / domains->buffer;
            long long next = begin + (part.round + 1LL) * domains->buffer;
            if (next > begin + domains->length) {
                next = begin + domains->length;
            }
            part.length = (next < end ? next : end) - offset;
            take(data, &part);
            offset += part.length;
            at += part.length;
        }
    }
}

struct counts {
    long *messages;
    long long *bytes;
    int *last_round; /**< of each domain, plus one */
};

static void count_part(void *data, const iso_part_t *part)
{
    struct counts *counts = data;
    counts->bytes[part->domain] += part->length;
    if (counts->last_round[part->domain] != part->round + 1) {
        counts->last_round[part->domain] = part->round + 1;
        counts->messages[part->domain]++;
    }
}

void iso_domains_count(const iso_domains_t *domains, const iso_tiling_t *tiling,
                       int rank, long *messages, long long *bytes)
{
    size_t count = domains->count;
    struct counts counts = {messages, bytes, ISO_NEW(int, count)};
    memset(messages, 0, count * sizeof(*messages));
    memset(bytes, 0, count * sizeof(*bytes));
    iso_domains_parts(domains, tiling, rank, count_part, &counts);
    free(counts.last_round);
}

/* --- messages of this rank ----------------------------------------------- */

/** A message, seen from one of its ends. */
struct message {
    int partner, round;
    long long at;      /**< rank's side: where in its tile */
    int bytes;         /**< rank's side */
    MPI_Datatype type; /**< aggregator's side: where in its window */
};

struct list {
    struct message *messages;
    int count, room;
};

struct iso_two_phase {
    const iso_context_t *ctx;
    const iso_tiling_t *tiling;
    const iso_domains_t *domains;
    int domain;           /**< of this rank, or -1 */
    struct list own;      /**< to aggregators, when writing */
    struct list gathered; /**< to this rank as aggregator, when writing */
    int *own_first, *gathered_first; /**< of each round, and an end */
    unsigned char *tile, *window;
    MPI_Request *requests;
    MPI_Status *statuses;
};

static struct message *append(struct list *list)
{
    ISO_GROW(list->messages, list->count, list->room);
    struct message *message = &list->messages[list->count++];
    *message = (struct message){.type = MPI_DATATYPE_NULL};
    return message;
}

struct own_parts {
    iso_two_phase_t *exchange;
    int *message_of; /**< index of the latest message to a domain, plus one */
};

/** A rank's own parts for one window lie side by side in its tile. */
static void take_own(void *data, const iso_part_t *part)
{
    struct own_parts *parts = data;
    struct list *list = &parts->exchange->own;
    int *latest = &parts->message_of[part->domain];
    if (*latest == 0 || list->messages[*latest - 1].round != part->round) {
        struct message *message = append(list);
        message->partner = parts->exchange->domains->rank[part->domain];
        message->round = part->round;
        message->at = part->at;
        *latest = list->count;
    }
    list->messages[*latest - 1].bytes += part->length;
}

struct gathered_parts {
    iso_two_phase_t *exchange;
    int rank, round; /**< whose parts these are, and of which round; or -1 */
    int count, lengths_room, places_room;
    int *lengths;
    MPI_Aint *places;
};

/** Make a message of the parts of a rank in a window. */
static void close_message(struct gathered_parts *parts)
{
    if (parts->count > 0) {
        struct message *message = append(&parts->exchange->gathered);
        message->partner = parts->rank;
        message->round = parts->round;
        MPI_CHECK(MPI_Type_create_hindexed(parts->count, parts->lengths,
                                           parts->places, MPI_BYTE,
                                           &message->type));
        MPI_CHECK(MPI_Type_commit(&message->type));
        parts->count = 0;
    }
}

static void take_gathered(void *data, const iso_part_t *part)
{
    struct gathered_parts *parts = data;
    const iso_two_phase_t *exchange = parts->exchange;
    if (part->domain != exchange->domain) {
        return;
    }
    if (part->round != parts->round) {
        close_message(parts);
        parts->round = part->round;
    }
    ISO_GROW(parts->lengths, parts->count, parts->lengths_room);
    ISO_GROW(parts->places, parts->count, parts->places_room);
    long long begin = part->domain * exchange->domains->length +
                      part->round * exchange->domains->buffer;
    parts->lengths[parts->count] = part->length;
    parts->places[parts->count++] = part->offset - begin;
}

static void list_gathered(iso_two_phase_t *exchange)
{
    struct gathered_parts parts = {.exchange = exchange};
    for (int r = 0; r < exchange->ctx->size; r++) {
        parts.rank = r;
        parts.round = -1;
        iso_domains_parts(exchange->domains, exchange->tiling, r, take_gathered,
                          &parts);
        close_message(&parts);
    }
    free(parts.places);
    free(parts.lengths);
}

/** By round, then by partner: ROMIO posts in the order of ranks. */
static int compare(const void *left, const void *right)
{
    const struct message *a = left, *b = right;
    return a->round != b->round
               ? (a->round > b->round) - (a->round < b->round)
               : (a->partner > b->partner) - (a->partner < b->partner);
}

/** Sort, and say where each round begins. */
static int *by_rounds(struct list *list, int rounds)
{
    int *first = ISO_NEW(int, rounds + 1);
    if (list->count > 0) {
        qsort(list->messages, list->count, sizeof(struct message), compare);
    }
    for (int k = 0; k < list->count; k++) {
        first[list->messages[k].round + 1]++;
    }
    for (int k = 0; k < rounds; k++) {
        first[k + 1] += first[k];
    }
    return first;
}

/* --- the exchange -------------------------------------------------------- */

iso_two_phase_t *iso_two_phase_create(const iso_context_t *ctx,
                                      const iso_tiling_t *tiling,
                                      const iso_domains_t *domains)
{
    iso_two_phase_t *e = ISO_NEW(iso_two_phase_t, 1);
    e->ctx = ctx;
    e->tiling = tiling;
    e->domains = domains;
    e->domain = -1;
    for (int k = 0; k < domains->count; k++) {
        e->domain = domains->rank[k] == ctx->rank ? k : e->domain;
    }
    struct own_parts parts = {e, ISO_NEW(int, domains->count)};
    iso_domains_parts(domains, tiling, ctx->rank, take_own, &parts);
    free(parts.message_of);
    if (e->domain >= 0) {
        long long window = domains->buffer < domains->length ? domains->buffer
                                                             : domains->length;
        list_gathered(e);
        e->window = iso_calloc(window, 1);
    }
    e->own_first = by_rounds(&e->own, domains->rounds);
    e->gathered_first = by_rounds(&e->gathered, domains->rounds);
    e->tile = iso_calloc(iso_tiling_tile(tiling), 1);
    size_t most = e->own.count + (size_t)e->gathered.count;
    e->requests = ISO_NEW(MPI_Request, most);
    e->statuses = ISO_NEW(MPI_Status, most);
    return e;
}

void iso_two_phase_free(iso_two_phase_t *e)
{
    for (int k = 0; k < e->gathered.count; k++) {
        MPI_CHECK(MPI_Type_free(&e->gathered.messages[k].type));
    }
    free(e->gathered.messages);
    free(e->own.messages);
    free(e->own_first);
    free(e->gathered_first);
    free(e->tile);
    free(e->window);
    free(e->requests);
    free(e->statuses);
    free(e);
}

/** Start the messages of a round, as a rank or as an aggregator; return the end
 * of the requests. */
static MPI_Request *begin_own(const iso_two_phase_t *e, int round, bool sends,
                              MPI_Request *request)
{
    for (int k = e->own_first[round]; k < e->own_first[round + 1]; k++) {
        const struct message *m = &e->own.messages[k];
        unsigned char *data = e->tile + m->at;
        if (sends) {
            MPI_Isend(data, m->bytes, MPI_BYTE, m->partner, TAG_DATA,
                      e->ctx->comm, request++);
        } else {
            MPI_Irecv(data, m->bytes, MPI_BYTE, m->partner, TAG_DATA,
                      e->ctx->comm, request++);
        }
    }
    return request;
}

static MPI_Request *begin_gathered(const iso_two_phase_t *e, int round,
                                   bool sends, MPI_Request *request)
{
    for (int k = e->gathered_first[round]; k < e->gathered_first[round + 1];
         k++) {
        const struct message *m = &e->gathered.messages[k];
        if (sends) {
            MPI_Isend(e->window, 1, m->type, m->partner, TAG_DATA, e->ctx->comm,
                      request++);
        } else {
            MPI_Irecv(e->window, 1, m->type, m->partner, TAG_DATA, e->ctx->comm,
                      request++);
        }
    }
    return request;
}

/** One round: all receives, then all sends, then wait for all. */
static void exchange_round(const iso_two_phase_t *e, int round, bool write)
{
    MPI_Request *next = e->requests;
    if (write) {
        next = begin_gathered(e, round, false, next);
        next = begin_own(e, round, true, next);
    } else {
        next = begin_own(e, round, false, next);
        next = begin_gathered(e, round, true, next);
    }
    MPI_Waitall((next - e->requests), e->requests, e->statuses);
}

double iso_two_phase_measure(iso_two_phase_t *e, bool write)
{
    iso_meet(e->ctx);
    double start = iso_now();
    for (int round = 0; round < e->domains->rounds; round++) {
        exchange_round(e, round, write);
    }
    return iso_now() - start;
}

/** Bytes of this rank's window in a round, and where it begins. */
static long long window_length(const iso_two_phase_t *e, int round,
                               long long *begin)
{
    const iso_domains_t *domains = e->domains;
    long long domain = e->domain * domains->length;
    long long end = domain + domains->length;
    *begin = domain + round * domains->buffer;
    end = end < domains->file ? end : domains->file;
    long long length = end - *begin;
    return length < domains->buffer ? length : domains->buffer;
}

long long iso_two_phase_verify(iso_two_phase_t *e, bool write)
{
    const iso_context_t *ctx = e->ctx;
    size_t tile = iso_tiling_tile(e->tiling);
    long long wrong = 0, where, begin;
    memset(e->tile, 0, tile);
    if (write) {
        iso_tiling_fill(e->tiling, ctx->rank, PATTERN, e->tile);
    }
    for (int round = 0; round < e->domains->rounds; round++) {
        long long length = e->domain < 0 ? 0 : window_length(e, round, &begin);
        for (long long k = 0; k < length; k++) {
            e->window[k] = write ? 0 : iso_tiling_byte(begin + k, PATTERN);
        }
        exchange_round(e, round, write);
        for (long long k = 0; write && k < length; k++) {
            wrong += e->window[k] != iso_tiling_byte(begin + k, PATTERN);
        }
    }
    if (!write) {
        wrong =
            iso_tiling_differ(e->tiling, ctx->rank, PATTERN, e->tile, &where);
    }
    return wrong;
}
