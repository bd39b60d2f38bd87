/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file latency_map.c
 * Round trips between every pair of ranks, or what else transfer.h can time.
 *
 * Rank 0 conducts. For each round of the schedule it tells the lower rank of
 * every pair to measure, and waits for their results before the next round.
 * All other ranks sleep until they are called. For a pair i < j:
 *
 *     rank 0 tells i to measure with j, and i wakes j
 *     i and j measure round trips (round_trip.h)
 *     i sends what they found to rank 0
 *
 * With --sample no rank conducts: each computes which pairs are measured in
 * which round (sample.h), and what they find is gathered every few seconds.
 *
 * With --pairs it measures only those, each alone: what the map of an earlier
 * start showed to stand out, and is to be seen again before it is believed.
 *
 * With --one-way the clocks of the ranks are synchronised, also between rounds
 * when they have aged, and each direction of a pair is timed, too.
 *
 * The time of a pair is the whole round trip, as in the process latency maps;
 * half of it is what other tools call latency. Of messages that go one way, as
 * with --mode put or a --window, it is that of one, the mean of both
 * directions.
 */
#include "base/check.h"
#include "experiments/latency_map/ranking.h"
#include "experiments/latency_map/round_trip.h"
#include "experiments/latency_map/sample.h"
#include "machine/heartbeat.h"
#include "messages/idle.h"
#include "sampling/coordinator.h"
#include "sampling/pair_blocks.h"
#include "sampling/quality.h"
#include "sampling/time_limit.h"

#include <math.h>

/** What rank 0 or a partner tells a sleeping rank to do. */
struct task {
    enum { MEASURE, ANSWER, CALL_ROLL, SYNCHRONISE } verb;
    int partner;    /* of MEASURE */
    double seconds; /* of MEASURE: how long it may take; INFINITY: no limit */
};

enum { TAG_HERE = 1, TAG_TURN, TAG_FOUND };

/** Parts of the time limit after which the map ends, and then its retests. The
 *  rest is for suspects that only a reading of the whole map shows (--pairs).
 */
static const double MAP = 0.7, RETESTS = 0.85;

static struct {
    iso_sizes_t sizes;
    const char *schedule;
    bool inner_parallel;
    long retest;
    const char *pairs;
    const char *sample;
    bool one_way;
} options;

static const iso_option_t own_options[] = {
    {"bytes", ISO_OPTION_SIZES, "SIZE,...", NULL,
     "bytes per message (default: 64; 1MiB with --mode bandwidth or --window)",
     &options.sizes},
    {"schedule", ISO_OPTION_CHOICE, "isolated|rounds|serial", "isolated",
     "how many pairs are measured at the same time: isolated (at most one on a "
     "node), rounds (at most one for a rank), serial (one in all)",
     &options.schedule},
    {"inner-parallel", ISO_OPTION_FLAG | ISO_EXPERT, NULL, NULL,
     "with --schedule isolated: also measure pairs within a node at the same "
     "time, each rank in one pair",
     &options.inner_parallel},
    {"retest", ISO_OPTION_COUNT, "N", "8",
     "retest the N slowest and the N most variable pairs, one at a time",
     &options.retest},
    {"pairs", ISO_OPTION_TEXT | ISO_EXPERT, "I-J,...", NULL,
     "measure only these pairs of ranks, one at a time, such as 0-1,0-2 "
     "(default: all pairs)",
     &options.pairs},
    {"sample", ISO_OPTION_TEXT, "PERCENT|N|auto", NULL,
     "measure only random pairs: 5% of all pairs, a number of pairs, or auto "
     "(enough pairs to find a slow node) (default: all pairs)",
     &options.sample},
    {"one-way", ISO_OPTION_FLAG, NULL, NULL,
     "also measure the time of a message in each direction, with synchronised "
     "clocks",
     &options.one_way},
    {0},
};

static const iso_option_t *const all_options[] = {own_options,
                                                  iso_transfer_options,
                                                  iso_memory_options,
                                                  iso_time_limit_options,
                                                  iso_sampler_options,
                                                  iso_sync_options,
                                                  NULL};

/** Part of the time limit after which the map ends: all, without retests. */
static double map_part(void)
{
    return options.retest > 0 && !options.pairs ? MAP : 1;
}

/** What a pair tells rank 0. */
struct message {
    double i, j; /* doubles, so that the message is all of one type */
    iso_round_trip_result_t results[ISO_MAX_SIZES];
};

/** Length in doubles of a message about all sizes. */
static int message_length(void)
{
    size_t used = offsetof(struct message, results) +
                  options.sizes.count * sizeof(iso_round_trip_result_t);
    return used / sizeof(double);
}

/* --- every rank ---------------------------------------------------------- */

/** What a rank needs to lead, answer and call. */
struct member {
    iso_round_trip_t trip;
    iso_coordinator_t coordinator;
};

static void tell(const struct member *m, int rank, struct task task)
{
    iso_coordinator_dispatch(&m->coordinator, rank, &task);
}

/**
 * The serial order's barrier: every rank says that it is idle. Goes down and
 * up a binomial tree, in which the parent of a rank is the rank without its
 * lowest bit.
 */
static void call_roll(const struct member *m)
{
    const iso_context_t *ctx = m->coordinator.ctx;
    int rank = ctx->rank, size = ctx->size;
    for (int bit = 1; !(rank & bit) && rank + bit < size; bit *= 2) {
        tell(m, rank + bit, (struct task){.verb = CALL_ROLL});
    }
    for (int bit = 1; !(rank & bit) && rank + bit < size; bit *= 2) {
        iso_await(ctx, rank + bit, TAG_HERE);
    }
    if (rank != 0) {
        iso_signal(ctx, rank & (rank - 1), TAG_HERE);
    }
}

/** Wake the partner and measure with it, for so many seconds at most. */
static void lead_pair(struct member *m, int partner, double seconds,
                      struct message *message)
{
    tell(m, partner, (struct task){.verb = ANSWER});
    m->trip.deadline = iso_now() + seconds;
    message->i = m->coordinator.ctx->rank;
    message->j = partner;
    iso_round_trip_measure(&m->trip, partner, message->results);
    iso_heartbeat_answered(partner);
}

static void perform(void *self, const void *command, int from)
{
    struct member *m = self;
    const struct task *task = command;
    struct message found;
    switch (task->verb) {
    case MEASURE:
        lead_pair(m, task->partner, task->seconds, &found);
        iso_coordinator_report(m->coordinator.ctx, (double *)&found,
                               message_length());
        break;
    case ANSWER:
        iso_round_trip_answer(&m->trip, from);
        break;
    case CALL_ROLL:
        call_roll(m);
        break;
    case SYNCHRONISE:
        iso_sync_refresh(m->trip.sync);
        break;
    }
}

/* --- rank 0 -------------------------------------------------------------- */

/** Kept apart inside nodes and between them, or the far pairs would fill it. */
enum { INSIDE, BETWEEN, PLACES };
enum { BY_MEDIAN, BY_SPREAD, KINDS };

struct map {
    struct member *member; /**< what rank 0 is, too */
    const iso_context_t *ctx;
    iso_ranking_t worst[PLACES * KINDS]; /**< place * KINDS + kind */
    iso_pair_blocks_t *blocks;
    bool retesting;
    double part;           /**< of the time limit, after which this ends */
    long done, total;      /**< pairs */
    iso_quality_t quality; /**< of all results */
    long shared_cpu;       /**< results of two ranks on one processor */
    long unknown_ways; /**< results whose clocks were off by more than a way */
    long lowered;      /**< results with fewer repetitions: no time left */
};

/** Write what a pair found, and remember the pair if it is slow or has a wide
 *  spread. */
static void take_result(struct map *map, const struct message *found)
{
    const iso_place_t *places = map->ctx->places;
    iso_pair_t pair = {(int)found->i, (int)found->j};
    bool inside = places[pair.i].node == places[pair.j].node;
    iso_ranking_t *worst = map->worst + (inside ? INSIDE : BETWEEN) * KINDS;
    double slowness = 0, spread = 0;
    for (int size = 0; size < options.sizes.count; size++) {
        const iso_round_trip_result_t *result = &found->results[size];
        const iso_summary_t *s = &result->summary;
        iso_pair_record_t record = {
            .i = pair.i,
            .j = pair.j,
            .summary = *s,
            .forward = result->ways[ISO_FORWARD],
            .reverse = result->ways[ISO_REVERSE],
            .batch = result->batch > 1 ? (long)result->batch : 1,
            .shared_cpu = result->shared_cpu > 0,
            .retest = map->retesting,
        };
        iso_pair_blocks_add(map->blocks, size, &record);
        map->shared_cpu += record.shared_cpu;
        map->unknown_ways +=
            options.one_way && fmin(record.forward, record.reverse) <= 0;
        slowness = fmax(slowness, s->median);
        spread = fmax(spread, (s->p95 - s->min) / s->median);
        iso_quality_add(&map->quality, s);
        map->lowered += result->lowered > 0;
    }
    if (!map->retesting) {
        iso_ranking_offer(&worst[BY_MEDIAN], pair, slowness);
        iso_ranking_offer(&worst[BY_SPREAD], pair, spread);
    }
    iso_progress(map->ctx, ++map->done, map->total, slowness);
}

/** Synchronise the clocks of all ranks again if they have aged. */
static void keep_clocks(const struct map *map)
{
    iso_sync_t *sync = map->member->trip.sync;
    if (!sync || !iso_sync_aged(sync)) {
        return;
    }
    for (int r = 1; r < map->ctx->size; r++) {
        tell(map->member, r, (struct task){.verb = SYNCHRONISE});
    }
    iso_sync_refresh(sync);
    iso_sync_record(sync, map->ctx->record);
}

/** Let the pairs of a round measure, and collect what they found. They may
 *  take their part of the time that is left for all pairs. */
static void conduct_round(struct map *map, const iso_pair_t *pairs, int count)
{
    const iso_context_t *ctx = map->ctx;
    keep_clocks(map);
    double seconds = fmax(0, iso_time_limit_left_of(ctx, map->part)) * count /
                     fmax(count, map->total - map->done);
    struct message found;
    int partner = 0, others = 0;
    for (int k = 0; k < count; k++) {
        if (pairs[k].i == 0) {
            partner = pairs[k].j;
        } else {
            tell(map->member, pairs[k].i,
                 (struct task){MEASURE, pairs[k].j, seconds});
            iso_heartbeat_expect(pairs[k].j);
            others++;
        }
    }
    if (partner) {
        lead_pair(map->member, partner, seconds, &found);
        take_result(map, &found);
    }
    for (; others > 0; others--) {
        iso_coordinator_collect(ctx, MPI_ANY_SOURCE, (double *)&found,
                                message_length());
        iso_heartbeat_answered(found.j);
        take_result(map, &found);
    }
    iso_pair_blocks_flush(map->blocks);
}

static bool out_of_time(const struct map *map)
{
    return map->done > 0 && iso_time_limit_left_of(map->ctx, map->part) <= 0;
}

/** Measure every pair in the order asked for. */
static iso_outcome_t conduct_schedule(struct map *map)
{
    const iso_context_t *ctx = map->ctx;
    iso_schedule_order_t order = iso_schedule_order(options.schedule);
    iso_pair_t *pairs = ISO_NEW(iso_pair_t, ctx->size / 2 + 1);
    iso_schedule_t *schedule = iso_schedule_create(
        order, ctx->size, ctx->node_of, options.inner_parallel);
    iso_outcome_t outcome = ISO_COMPLETE;
    int count;
    while ((count = iso_schedule_next(schedule, pairs)) > 0) {
        if (out_of_time(map)) {
            outcome = ISO_CUT_SHORT;
            break;
        }
        if (order == ISO_SCHEDULE_SERIAL) {
            call_roll(map->member);
        }
        conduct_round(map, pairs, count);
    }
    iso_schedule_free(schedule);
    free(pairs);
    return outcome;
}

/* --- a sample: no rank conducts ------------------------------------------ */

/** What a rank found since the last gathering. */
struct results {
    struct message *found;
    long count, room;
};

/**
 * Take part in some rounds.
 *
 * On a node only one rank has the turn: it begins when the one before it on
 * this node is done. So no two pairs that share a node are measured at the same
 * time, though nobody says when a round begins.
 */
static void walk(struct member *m, const iso_sample_t *sample, const int node[],
                 long first, long last, struct results *results)
{
    const iso_context_t *ctx = m->coordinator.ctx;
    int me = ctx->rank, own = node[me], before = -1;
    long rounds = iso_sample_rounds(sample);
    for (long round = first; round < last; round++) {
        iso_pair_t pair;
        if (!iso_sample_pair(sample, round, own, &pair)) {
            continue;
        }
        int now = node[pair.i] == own ? pair.i : pair.j; /* it has the turn */
        if (before == me && now != me) {
            iso_signal(ctx, now, TAG_TURN);
        }
        if (now == me && before >= 0 && before != me) {
            iso_await(ctx, before, TAG_TURN);
        }
        before = now;
        if (me == pair.i) {
            ISO_GROW(results->found, results->count, results->room);
            struct message *found = &results->found[results->count++];
            found->i = pair.i;
            found->j = pair.j;
            double left = iso_time_limit_left_of(ctx, map_part());
            m->trip.deadline = iso_now() + fmax(0, left) / (rounds - round);
            iso_round_trip_measure(&m->trip, pair.j, found->results);
        } else if (me == pair.j) {
            iso_round_trip_answer(&m->trip, pair.i);
        }
    }
}

/** Bring what all ranks found to rank 0. @a map is NULL but there. */
static void gather(const iso_context_t *ctx, struct map *map,
                   struct results *results)
{
    int length = message_length();
    for (long k = 0; map && k < results->count; k++) {
        take_result(map, &results->found[k]);
    }
    for (int r = 1; map && r < ctx->size; r++) {
        long count;
        struct message found;
        MPI_CHECK(MPI_Recv(&count, 1, MPI_LONG, r, TAG_FOUND, ctx->control,
                           MPI_STATUS_IGNORE));
        for (long k = 0; k < count; k++) {
            MPI_CHECK(MPI_Recv(&found, length, MPI_DOUBLE, r, TAG_FOUND,
                               ctx->control, MPI_STATUS_IGNORE));
            take_result(map, &found);
        }
    }
    if (map == NULL) {
        MPI_CHECK(
            MPI_Send(&results->count, 1, MPI_LONG, 0, TAG_FOUND, ctx->control));
    }
    for (long k = 0; map == NULL && k < results->count; k++) {
        MPI_CHECK(MPI_Send(&results->found[k], length, MPI_DOUBLE, 0, TAG_FOUND,
                           ctx->control));
    }
    results->count = 0;
}

/** Rounds until the next gathering: about two seconds, or as many
 *  results as a message holds. */
static long next_window(const iso_context_t *ctx, long rounds, double seconds)
{
    static const double WANTED = 2;
    long most = (1 << 22) / message_length() / (ctx->size / 2 + 1);
    double more = seconds > 0 ? WANTED / seconds * rounds : 2.0 * rounds;
    more = fmin(fmin(more, 4.0 * rounds), most);
    return more > 1 ? (long)more : 1;
}

/** Order places by the names of hosts, with numbers in these as numbers. */
static int compare_hosts(const void *one, const void *other)
{
    const char *a = (*(const iso_place_t *const *)one)->host;
    const char *b = (*(const iso_place_t *const *)other)->host;
    for (; *a && *b; a++, b++) {
        size_t left = strspn(a, "0123456789"), right = strspn(b, "0123456789");
        if (left != right && left > 0 && right > 0) {
            return left < right ? -1 : 1;
        }
        if (*a != *b) {
            break;
        }
    }
    return *a - *b;
}

/** Number the nodes of all ranks in the order of their names. At rank 0. */
static void number_nodes(const iso_context_t *ctx, int node[])
{
    const iso_place_t **any = ISO_NEW(const iso_place_t *, ctx->nodes);
    int *number = ISO_NEW(int, ctx->nodes);
    for (int r = 0; r < ctx->size; r++) {
        any[ctx->node_of[r]] = &ctx->places[r];
    }
    qsort(any, ctx->nodes, sizeof(*any), compare_hosts);
    for (int n = 0; n < ctx->nodes; n++) {
        number[any[n]->node] = n;
    }
    for (int r = 0; r < ctx->size; r++) {
        node[r] = number[ctx->node_of[r]];
    }
    free(any);
    free(number);
}

/**
 * Measure the sample; called on every rank. @a map is NULL but at rank 0.
 */
static iso_outcome_t measure_sample(struct member *m, struct map *map)
{
    const iso_context_t *ctx = m->coordinator.ctx;
    int *node = ISO_NEW(int, ctx->size);
    if (map) {
        number_nodes(ctx, node);
    }
    MPI_CHECK(MPI_Bcast(node, ctx->size, MPI_INT, 0, ctx->control));
    long pairs = iso_sample_pairs(options.sample, ctx->size, ctx->nodes);
    iso_sample_t *sample = iso_sample_create(ctx->size, node, pairs);
    struct results results = {0};
    iso_sync_t *sync = m->trip.sync;
    long rounds = iso_sample_rounds(sample), done = 0;
    long next[] = {4, 0}; /* rounds of the next window; clocks have aged */
    m->trip.unconducted = true;
    while (done < rounds && next[0] > 0) {
        double started = iso_now();
        long last = done + next[0] < rounds ? done + next[0] : rounds;
        walk(m, sample, node, done, last, &results);
        gather(ctx, map, &results);
        if (map) {
            iso_pair_blocks_flush(map->blocks);
            next[0] = next_window(ctx, last - done, iso_now() - started);
            next[0] = out_of_time(map) && last < rounds ? 0 : next[0];
            next[1] = sync && iso_sync_aged(sync);
        }
        done = last;
        MPI_CHECK(MPI_Bcast(next, 2, MPI_LONG, 0, ctx->control));
        if (next[1]) {
            iso_sync_refresh(sync);
        }
        if (next[1] && map) {
            iso_sync_record(sync, ctx->record);
        }
    }
    m->trip.unconducted = false;
    free(results.found);
    iso_sample_free(sample);
    free(node);
    return next[0] > 0 ? ISO_COMPLETE : ISO_CUT_SHORT;
}

/** Measure slow and spread pairs again, alone on the machine, as far as there
 *  is time: what a reading of the map then suspects is measured again, too. */
static void conduct_retests(struct map *map)
{
    map->retesting = true;
    map->part = RETESTS;
    for (int r = 0; r < PLACES * KINDS; r++) {
        map->total += map->worst[r].count;
    }
    for (int r = 0; r < PLACES * KINDS; r++) {
        const iso_ranking_t *ranking = &map->worst[r];
        for (int k = 0; k < ranking->count && !out_of_time(map); k++) {
            if (iso_rankings_hold(map->worst, r, ranking->pairs[k])) {
                map->total--;
            } else {
                conduct_round(map, &ranking->pairs[k], 1);
            }
        }
    }
}

/** Measure the pairs that --pairs names, each alone on the machine. */
static iso_outcome_t conduct_listed(struct map *map)
{
    const char *rest = options.pairs;
    iso_pair_t pair;
    map->retesting = true;
    while (iso_pairs_next(&rest, &pair) > 0) {
        if (out_of_time(map)) {
            return ISO_CUT_SHORT;
        }
        pair = iso_pair_of(pair.i, pair.j);
        conduct_round(map, &pair, 1);
    }
    return ISO_COMPLETE;
}

/** Count the pairs that will be measured. */
static long count_pairs(const iso_context_t *ctx)
{
    const char *rest = options.pairs;
    iso_pair_t pair;
    long count = 0;
    while (iso_pairs_next(&rest, &pair) > 0) {
        count++;
    }
    if (options.sample) {
        return iso_sample_pairs(options.sample, ctx->size, ctx->nodes);
    }
    return options.pairs ? count : (long)ctx->size * (ctx->size - 1) / 2;
}

/** Room for the pairs that stand out: few of few, --retest of many. */
static void open_rankings(struct map *map)
{
    const iso_context_t *ctx = map->ctx;
    int *on_node = ISO_NEW(int, ctx->nodes);
    long inside = 0;
    for (int r = 0; r < ctx->size; r++) {
        inside += on_node[ctx->node_of[r]]++;
    }
    free(on_node);
    long all = (long)ctx->size * (ctx->size - 1) / 2;
    long pairs[PLACES] = {inside, all - inside};
    for (int r = 0; r < PLACES * KINDS; r++) {
        long room = (pairs[r / KINDS] + 7) / 8;
        iso_ranking_init(&map->worst[r],
                         (int)(room < options.retest ? room : options.retest));
    }
}

static void warn(const struct map *map, iso_outcome_t outcome)
{
    if (outcome == ISO_CUT_SHORT) {
        iso_time_limit_warn(map->ctx, map->done, map->total, "pairs");
    }
    if (map->lowered > 0) {
        iso_time_limit_warn_lowered(map->ctx, map->lowered,
                                    map->quality.points);
    }
    if (map->shared_cpu > 0) {
        iso_record_warning(
            map->ctx->record, "shared-processor",
            "in %ld of %ld points both ranks were on the same processor and "
            "took turns; bind the ranks, or start fewer",
            map->shared_cpu, map->quality.points);
    }
    if (map->unknown_ways > 0) {
        iso_record_warning(
            map->ctx->record, "clock-error",
            "%ld of %ld points have no times of one direction: they are "
            "shorter than the error of the clocks; use larger messages",
            map->unknown_ways, map->quality.points);
    }
    iso_quality_warn(&map->quality, map->ctx->record);
}

static int format(int ranks)
{
    return iso_pair_format(ranks, options.sample != NULL);
}

static iso_outcome_t conduct(struct member *member)
{
    const iso_context_t *ctx = member->coordinator.ctx;
    struct map map = {.member = member, .ctx = ctx, .part = map_part()};
    map.total = count_pairs(ctx);
    map.blocks =
        iso_pair_blocks_open(ctx->record, &options.sizes, format(ctx->size),
                             member->trip.ways_known);
    open_rankings(&map);
    iso_outcome_t outcome = options.pairs    ? conduct_listed(&map)
                            : options.sample ? measure_sample(member, &map)
                                             : conduct_schedule(&map);
    if (outcome == ISO_COMPLETE) {
        conduct_retests(&map);
    }
    iso_coordinator_dismiss(&member->coordinator);
    iso_pair_blocks_close(map.blocks);
    warn(&map, outcome);
    for (int r = 0; r < PLACES * KINDS; r++) {
        iso_ranking_free(&map.worst[r]);
    }
    return outcome;
}

/* --- the experiment ------------------------------------------------------ */

static int check(char *error)
{
    const char *rest = options.pairs;
    iso_pair_t pair;
    int more;
    do {
        more = iso_pairs_next(&rest, &pair);
    } while (more > 0);
    if (more < 0) {
        return ISO_REFUSE(
            error, "--pairs is '%.60s', not pairs of two ranks such as 0-7,2-5",
            options.pairs);
    }
    if (options.sample && iso_sample_pairs(options.sample, 2, 1) < 0) {
        return ISO_REFUSE(error,
                          "--sample is '%.40s', not a part such as 5%%, a "
                          "number of pairs, or auto",
                          options.sample);
    }
    if (options.sample &&
        (options.pairs || strcmp(options.schedule, "isolated"))) {
        return ISO_REFUSE(error, "--sample needs --schedule isolated, and "
                                 "excludes --pairs");
    }
    if (iso_transfer_check(&options.sizes, error)) {
        return -1;
    }
    if (options.one_way && !iso_transfer_stamps()) {
        return ISO_REFUSE(error, "--one-way is for --mode blocking; put, get "
                                 "and a --window time each direction anyway");
    }
    return iso_sampler_check(error) ? -1 : iso_sync_check(error);
}

static int check_ranks(int ranks, char *error)
{
    return iso_pairs_check_ranks(options.pairs, ranks, error) ||
           iso_transfer_check_ranks(ranks, error);
}

static double memory(int ranks)
{
    return iso_transfer_memory(iso_sizes_largest(&options.sizes));
}

/** What the times are; NULL: round trips. */
static const char *quantity(void)
{
    return iso_transfer_course() == ISO_ROUND_TRIP ? NULL
                                                   : iso_transfer_quantity();
}

static iso_outcome_t run(iso_context_t *ctx)
{
    struct member member;
    iso_outcome_t outcome = ISO_COMPLETE;
    member.coordinator = (iso_coordinator_t){.ctx = ctx,
                                             .task_size = sizeof(struct task),
                                             .self = &member,
                                             .perform = perform};
    iso_round_trip_init(&member.trip, ctx, &options.sizes, options.one_way);
    if (ctx->rank == 0) {
        if (member.trip.sync) {
            iso_sync_record(member.trip.sync, ctx->record);
        }
        outcome = conduct(&member);
    } else {
        if (options.sample) {
            measure_sample(&member, NULL);
        }
        iso_coordinator_serve(&member.coordinator);
    }
    iso_round_trip_free(&member.trip);
    return outcome;
}

const iso_experiment_t iso_experiment_latency_map = {
    .name = "latency-map",
    .summary = "round trips or bandwidths between every pair of ranks",
    .kind = "latency-map",
    .options = all_options,
    .min_ranks = 2,
    .check = check,
    .check_ranks = check_ranks,
    .check_node = iso_transfer_check_node,
    .resolve = iso_sampler_resolve,
    .memory = memory,
    .format = format,
    .quantity = quantity,
    .run = run,
};
