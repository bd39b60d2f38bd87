/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file latency_map.c
 * Blocking round trips between every pair of ranks.
 *
 * Rank 0 conducts. For each round of the schedule it tells the lower rank of
 * every pair to measure, and waits for their results before the next round.
 * All other ranks nap until they are called. For a pair i < j:
 *
 *     rank 0 tells i to measure with j, and i calls j out of its nap
 *     i and j measure round trips (round_trip.h)
 *     i sends what they found to rank 0
 *
 * The time of a pair is the whole round trip, as in the process latency maps;
 * half of it is what other tools call latency.
 */
#include "base/check.h"
#include "experiment.h"
#include "experiments/latency_map/ranking.h"
#include "experiments/latency_map/round_trip.h"
#include "experiments/latency_map/schedule.h"
#include "machine/idle.h"
#include "runfile/record.h"

#include <math.h>
#include <stddef.h>

/** What rank 0 or a partner asks a napping rank to do. */
enum verb { MEASURE, ANSWER, REPORT, STOP };

enum tag { TAG_COMMAND, TAG_RESULT, TAG_HERE };

static struct {
    iso_sizes_t sizes;
    const char *order;
    bool inner_parallel;
    long retest;
    double time_limit;
} options;

static const iso_option_t own_options[] = {
    {"bytes", ISO_OPTION_SIZES, "SIZE,...", "64",
     "message sizes, e.g. 64,1KiB,4MiB", &options.sizes},
    {"order", ISO_OPTION_CHOICE, "quiet|rounds|serial", "quiet",
     "which pairs run at once: quiet: none that share a node; rounds: as many "
     "as there are; serial: one, with a barrier before it",
     &options.order},
    {"inner-parallel", ISO_OPTION_FLAG, NULL, NULL,
     "order quiet: let disjoint pairs inside a node run at once",
     &options.inner_parallel},
    {"retest", ISO_OPTION_COUNT, "N", "8",
     "measure up to N slowest and N most spread pairs again, alone; as many "
     "inside the nodes and between them",
     &options.retest},
    {"time-limit", ISO_OPTION_SECONDS, "SECONDS", "0",
     "stop after this time and keep what was measured; 0: no limit",
     &options.time_limit},
    {0},
};

static const iso_option_t *const all_options[] = {own_options,
                                                  iso_sampler_options, NULL};

/** What a pair tells rank 0. */
struct message {
    double i, j; /* doubles, so that the message is all of one type */
    iso_round_trip_result_t results[ISO_MAX_SIZES];
};

/** Length in doubles of a message about all sizes. */
static int message_length(void)
{
    size_t used = offsetof(struct message, results) +
                  (size_t)options.sizes.count * sizeof(iso_round_trip_result_t);
    return (int)(used / sizeof(double));
}

/* --- every rank ---------------------------------------------------------- */

static void command(const iso_context_t *ctx, int rank, enum verb verb,
                    int argument)
{
    int message[2] = {verb, argument};
    MPI_CHECK(MPI_Send(message, 2, MPI_INT, rank, TAG_COMMAND, ctx->control));
}

/**
 * The serial order's barrier: every rank says that it is idle. Goes down and
 * up a binomial tree, in which the parent of a rank is the rank without its
 * lowest bit.
 */
static void roll_call(const iso_context_t *ctx)
{
    int rank = ctx->rank, size = ctx->size;
    for (int bit = 1; !(rank & bit) && rank + bit < size; bit *= 2) {
        command(ctx, rank + bit, REPORT, 0);
    }
    for (int bit = 1; !(rank & bit) && rank + bit < size; bit *= 2) {
        iso_idle_recv(&ctx->clock, NULL, 0, MPI_INT, rank + bit, TAG_HERE,
                      ctx->control, MPI_STATUS_IGNORE);
    }
    if (rank != 0) {
        MPI_CHECK(MPI_Send(NULL, 0, MPI_INT, rank & (rank - 1), TAG_HERE,
                           ctx->control));
    }
}

/** Call the partner out of its nap and measure with it. */
static void lead_pair(iso_round_trip_t *trip, int partner,
                      struct message *message)
{
    command(trip->ctx, partner, ANSWER, 0);
    message->i = trip->ctx->rank;
    message->j = partner;
    iso_round_trip_measure(trip, partner, message->results);
}

/** What every rank but 0 does: nap, do what is asked, nap again. */
static void serve(iso_round_trip_t *trip)
{
    const iso_context_t *ctx = trip->ctx;
    struct message found;
    for (;;) {
        MPI_Status status;
        int asked[2];
        iso_idle_recv(&ctx->clock, asked, 2, MPI_INT, MPI_ANY_SOURCE,
                      TAG_COMMAND, ctx->control, &status);
        switch ((enum verb)asked[0]) {
        case MEASURE:
            lead_pair(trip, asked[1], &found);
            MPI_CHECK(MPI_Send(&found, message_length(), MPI_DOUBLE, 0,
                               TAG_RESULT, ctx->control));
            break;
        case ANSWER:
            iso_round_trip_answer(trip, status.MPI_SOURCE);
            break;
        case REPORT:
            roll_call(ctx);
            break;
        case STOP:
            return;
        }
    }
}

/* --- the conductor, rank 0 ----------------------------------------------- */

/** Kept apart inside nodes and between them, or the far pairs would fill it. */
enum { INSIDE, BETWEEN, PLACES };
enum { SLOWEST, MOST_SPREAD, KINDS };

struct conductor {
    iso_round_trip_t *trip;
    const iso_context_t *ctx;
    iso_ranking_t worst[PLACES * KINDS]; /**< place * KINDS + kind */
    bool retesting;
    long done, total;
    long shared_cpu;       /**< results of two ranks on one processor */
    long missed;           /**< results that are not as precise as asked */
    long unsteady, points; /**< results whose interval is wide, and all */
};

static void record_pair(struct conductor *c, iso_pair_t pair, long long bytes,
                        const iso_round_trip_result_t *found)
{
    iso_record_t *record = c->ctx->record;
    iso_record_begin(record, "pair");
    iso_record_int(record, "i", pair.i);
    iso_record_int(record, "j", pair.j);
    iso_record_int(record, "bytes", (long)bytes);
    iso_sampler_record(&found->summary, record);
    if (found->batch > 1) {
        iso_record_int(record, "batch", (long)found->batch);
    }
    if (found->shared_cpu > 0) {
        iso_record_bool(record, "shared_cpu", true);
        c->shared_cpu++;
    }
    if (c->retesting) {
        iso_record_bool(record, "retest", true);
    }
    iso_record_end(record);
}

/** Write what a pair found, and remember the pair if it stands out. */
static void take_result(struct conductor *c, const struct message *found)
{
    const iso_place_t *places = c->ctx->places;
    iso_pair_t pair = {(int)found->i, (int)found->j};
    bool inside = places[pair.i].node == places[pair.j].node;
    iso_ranking_t *worst = c->worst + (inside ? INSIDE : BETWEEN) * KINDS;
    double slowness = 0, spread = 0;
    for (int size = 0; size < options.sizes.count; size++) {
        const iso_summary_t *s = &found->results[size].summary;
        record_pair(c, pair, options.sizes.bytes[size], &found->results[size]);
        slowness = fmax(slowness, s->median);
        spread = fmax(spread, (s->p95 - s->min) / s->median);
        c->unsteady += s->high - s->low > 0.2 * s->median;
        c->missed += iso_sampler_missed(s);
        c->points++;
    }
    if (!c->retesting) {
        iso_ranking_offer(&worst[SLOWEST], pair, slowness);
        iso_ranking_offer(&worst[MOST_SPREAD], pair, spread);
    }
    iso_progress(c->ctx, ++c->done, c->total, slowness);
}

/** Let the pairs of a round measure, and collect what they found. */
static void conduct_round(struct conductor *c, const iso_pair_t *pairs,
                          int count)
{
    const iso_context_t *ctx = c->ctx;
    struct message found;
    int partner = 0, others = 0;
    for (int k = 0; k < count; k++) {
        if (pairs[k].i == 0) {
            partner = pairs[k].j;
        } else {
            command(ctx, pairs[k].i, MEASURE, pairs[k].j);
            others++;
        }
    }
    if (partner) {
        lead_pair(c->trip, partner, &found);
        take_result(c, &found);
    }
    for (; others > 0; others--) {
        iso_idle_recv(&ctx->clock, &found, message_length(), MPI_DOUBLE,
                      MPI_ANY_SOURCE, TAG_RESULT, ctx->control,
                      MPI_STATUS_IGNORE);
        take_result(c, &found);
    }
    iso_record_flush(ctx->record);
}

static bool out_of_time(const struct conductor *c)
{
    return c->done > 0 && options.time_limit > 0 &&
           iso_now() - c->ctx->started > options.time_limit;
}

/** Measure every pair in the order asked for. */
static iso_outcome_t conduct_schedule(struct conductor *c)
{
    const iso_context_t *ctx = c->ctx;
    iso_order_t order = ISO_ORDER_QUIET;
    iso_order_parse(options.order, &order);
    int *node = iso_calloc((size_t)ctx->size, sizeof(int));
    for (int r = 0; r < ctx->size; r++) {
        node[r] = ctx->places[r].node;
    }
    iso_pair_t *pairs = iso_calloc((size_t)ctx->size / 2 + 1, sizeof(*pairs));
    iso_schedule_t *schedule =
        iso_schedule_create(order, ctx->size, node, options.inner_parallel);
    iso_outcome_t outcome = ISO_COMPLETE;
    int count;
    while ((count = iso_schedule_next(schedule, pairs)) > 0) {
        if (out_of_time(c)) {
            outcome = ISO_CUT_SHORT;
            break;
        }
        if (order == ISO_ORDER_SERIAL) {
            roll_call(ctx);
        }
        conduct_round(c, pairs, count);
    }
    iso_schedule_free(schedule);
    free(pairs);
    free(node);
    return outcome;
}

/** Whether a ranking before ranking number @a before holds the pair, too. */
static bool retested_before(const struct conductor *c, int before,
                            iso_pair_t pair)
{
    for (int r = 0; r < before; r++) {
        if (iso_ranking_holds(&c->worst[r], pair)) {
            return true;
        }
    }
    return false;
}

/** Measure what stands out again, each pair alone on the machine. */
static iso_outcome_t conduct_retests(struct conductor *c)
{
    c->retesting = true;
    for (int r = 0; r < PLACES * KINDS; r++) {
        const iso_ranking_t *ranking = &c->worst[r];
        for (int k = 0; k < ranking->count; k++) {
            if (retested_before(c, r, ranking->pairs[k])) {
                continue;
            }
            if (out_of_time(c)) {
                return ISO_CUT_SHORT;
            }
            c->total++;
            conduct_round(c, &ranking->pairs[k], 1);
        }
    }
    return ISO_COMPLETE;
}

/** Room for the pairs that stand out: few of few, --retest of many. */
static void open_rankings(struct conductor *c)
{
    const iso_context_t *ctx = c->ctx;
    int *on_node = iso_calloc((size_t)ctx->size, sizeof(int));
    long inside = 0;
    for (int r = 0; r < ctx->size; r++) {
        inside += on_node[ctx->places[r].node]++;
    }
    free(on_node);
    long pairs[PLACES] = {inside, c->total - inside};
    for (int r = 0; r < PLACES * KINDS; r++) {
        long room = (pairs[r / KINDS] + 7) / 8;
        iso_ranking_init(&c->worst[r],
                         (int)(room < options.retest ? room : options.retest));
    }
}

static void close_rankings(struct conductor *c)
{
    for (int r = 0; r < PLACES * KINDS; r++) {
        iso_ranking_free(&c->worst[r]);
    }
}

static void warn(const struct conductor *c, iso_outcome_t outcome)
{
    char text[160];
    if (outcome == ISO_CUT_SHORT) {
        snprintf(text, sizeof(text),
                 "the time limit of %g s ended it after %ld of %ld pairs",
                 options.time_limit, c->done, c->total);
        iso_record_warning(c->ctx->record, "cut-short", text);
    }
    if (c->shared_cpu > 0) {
        snprintf(text, sizeof(text),
                 "in %ld of %ld points both ranks were on one processor and "
                 "took turns; bind the ranks, or start fewer",
                 c->shared_cpu, c->points);
        iso_record_warning(c->ctx->record, "shared-processor", text);
    }
    if (c->missed > 0) {
        snprintf(text, sizeof(text),
                 "%ld of %ld points did not reach the precision asked for "
                 "within --max-repeats and --max-time",
                 c->missed, c->points);
        iso_record_warning(c->ctx->record, "precision-missed", text);
    }
    if (10 * c->unsteady > c->points) {
        snprintf(text, sizeof(text),
                 "the median of %ld of %ld points is not known to 10 %%; the "
                 "machine is noisy, or --repeats too small",
                 c->unsteady, c->points);
        iso_record_warning(c->ctx->record, "noisy", text);
    }
}

static iso_outcome_t conduct(iso_round_trip_t *trip)
{
    const iso_context_t *ctx = trip->ctx;
    struct conductor c = {.trip = trip, .ctx = ctx};
    c.total = (long)ctx->size * (ctx->size - 1) / 2;
    open_rankings(&c);
    iso_outcome_t outcome = conduct_schedule(&c);
    if (outcome == ISO_COMPLETE) {
        outcome = conduct_retests(&c);
    }
    for (int r = 1; r < ctx->size; r++) {
        command(ctx, r, STOP, 0);
    }
    warn(&c, outcome);
    close_rankings(&c);
    return outcome;
}

/* --- the experiment ------------------------------------------------------ */

static iso_outcome_t run(iso_context_t *ctx)
{
    iso_round_trip_t trip;
    iso_outcome_t outcome = ISO_COMPLETE;
    iso_round_trip_init(&trip, ctx, &options.sizes);
    if (ctx->rank == 0) {
        outcome = conduct(&trip);
    } else {
        serve(&trip);
    }
    iso_round_trip_free(&trip);
    return outcome;
}

const iso_experiment_t iso_experiment_latency_map = {
    .name = "latency-map",
    .summary = "blocking round trips between every pair of ranks",
    .options = all_options,
    .min_ranks = 2,
    .check = iso_sampler_check,
    .run = run,
};
