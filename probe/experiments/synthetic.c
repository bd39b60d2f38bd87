/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file synthetic.c
 * A synthetic latency map, to test everything that reads a map without timing.
 *
 * The round trip of b bytes between two ranks is exactly
 *
 *     t = 2 (latency * step^d + b / bandwidth) * slow
 *
 * where d counts the levels up to their common ancestor: 0 on one node, 1 on
 * one switch, and so on; slow is 1, or --slow-factor for each of --slow-node,
 * --slow-rank and --slow-pair that the pair touches (a slow node slows what
 * crosses its port, not what stays inside). With --noise every repetition is
 * longer by an exponential variate of that relative mean. A slow pair has a
 * second record, marked as measured again.
 *
 * --shape 4,8,2 describes a machine of 4 ranks a node, 8 nodes a switch and 2
 * switches; without it the ranks are those of the MPI job.
 */
#include "base/check.h"
#include "base/pairs.h"
#include "base/random.h"
#include "experiment.h"
#include "sampling/pair_blocks.h"

#include <math.h>

enum { MAX_LEVELS = 8, MAX_RANKS = 1 << 16 };

static struct {
    iso_sizes_t sizes;
    iso_counts_t shape;
    const char *placement;
    double latency, step, bandwidth;
    long slow_node, slow_rank;
    const char *slow_pair;
    double slow_factor, noise;
    long seed;
} options = {.slow_node = -1, .slow_rank = -1};

static const iso_option_t own_options[] = {
    {"bytes", ISO_OPTION_SIZES, "SIZE,...", "64", "bytes per message",
     &options.sizes},
    {"shape", ISO_OPTION_COUNTS, "N,...", NULL,
     "shape of the machine, such as 8,4,2: 8 ranks per node, 4 nodes per "
     "switch, 2 switches (default: the nodes of this job)",
     &options.shape},
    {"placement", ISO_OPTION_CHOICE | ISO_EXPERT, "block|cyclic", "block",
     "assignment of ranks to nodes: filled one by one (block), or in turn "
     "(cyclic)",
     &options.placement},
    {"latency", ISO_OPTION_SECONDS, "TIME", "1us",
     "one-way latency between ranks of a node", &options.latency},
    {"step", ISO_OPTION_NUMBER | ISO_EXPERT, "FACTOR", "4",
     "factor of the latency from one level to the next", &options.step},
    {"bandwidth", ISO_OPTION_NUMBER | ISO_EXPERT, "BYTES/S", "1e10",
     "bandwidth of each link, in bytes per second", &options.bandwidth},
    {"slow-node", ISO_OPTION_COUNT, "NODE", NULL,
     "number of the slow node, whose link is slow (default: none)",
     &options.slow_node},
    {"slow-rank", ISO_OPTION_COUNT | ISO_EXPERT, "RANK", NULL,
     "number of a slow rank (default: none)", &options.slow_rank},
    {"slow-pair", ISO_OPTION_TEXT | ISO_EXPERT, "I-J", NULL,
     "a slow pair of ranks (default: none)", &options.slow_pair},
    {"slow-factor", ISO_OPTION_NUMBER, "FACTOR", "3",
     "factor by which the slow node, rank or pair is slow",
     &options.slow_factor},
    {"noise", ISO_OPTION_PERCENT, "PERCENT", "0",
     "lengthen each time by a random share, PERCENT on average",
     &options.noise},
    {"seed", ISO_OPTION_COUNT, "N", "1", "seed of the noise", &options.seed},
    {0},
};

static const iso_option_t *const all_options[] = {own_options,
                                                  iso_sampler_options, NULL};

static iso_pair_t slow_pair;

/** Read --slow-pair; -1 and -1 if not given. */
static int parse_slow_pair(char *error)
{
    char after;
    slow_pair = (iso_pair_t){-1, -1};
    if (options.slow_pair && sscanf(options.slow_pair, "%d-%d%c", &slow_pair.i,
                                    &slow_pair.j, &after) != 2) {
        return ISO_REFUSE(error,
                          "--slow-pair is '%.40s', not two ranks such as 2-7",
                          options.slow_pair);
    }
    return 0;
}

static int check(char *error)
{
    long ranks = 1;
    for (int k = 0; k < options.shape.count; k++) {
        ranks *= options.shape.value[k];
        if (ranks < 1 || ranks > MAX_RANKS || k >= MAX_LEVELS) {
            return ISO_REFUSE(
                error,
                "--shape takes up to %d numbers, for 2 to %d ranks in total",
                MAX_LEVELS, MAX_RANKS);
        }
    }
    if (parse_slow_pair(error)) {
        return -1;
    }
    int nodes = options.shape.count ? (int)(ranks / options.shape.value[0]) : 0;
    if (nodes && (options.slow_node >= nodes || options.slow_rank >= ranks ||
                  slow_pair.j >= ranks ||
                  (options.slow_pair && slow_pair.i >= slow_pair.j))) {
        return ISO_REFUSE(error,
                          "the slow component does not exist: nodes are 0 to "
                          "%d, ranks 0 to %ld, pairs I-J with I < J",
                          nodes - 1, ranks - 1);
    }
    if (options.bandwidth == 0) {
        return ISO_REFUSE(error, "--bandwidth must be above 0");
    }
    return iso_sampler_check(error);
}

static int shape_ranks(void)
{
    int ranks = 1;
    for (int k = 0; k < options.shape.count; k++) {
        ranks *= options.shape.value[k];
    }
    return ranks;
}

/** Rank number r of the invented machine as a slot, counted node by node. */
static int slot_of_rank(int r)
{
    int per_node = options.shape.value[0];
    int nodes = shape_ranks() / per_node;
    bool cyclic = strcmp(options.placement, "cyclic") == 0;
    return cyclic ? r % nodes * per_node + r / nodes : r;
}

static iso_place_t *invent(int *ranks)
{
    if (options.shape.count == 0) {
        return NULL;
    }
    *ranks = shape_ranks();
    iso_place_t *places = ISO_NEW(iso_place_t, *ranks);
    for (int r = 0; r < *ranks; r++) {
        int slot = slot_of_rank(r), per_node = options.shape.value[0];
        places[r].node = slot / per_node; /* in both placements */
        places[r].cpu = places[r].core = slot % per_node;
        places[r].cpus = per_node;
        places[r].l2 = places[r].l3 = -1; /* no caches are invented */
        snprintf(places[r].host, sizeof(places[r].host), "n%d", places[r].node);
    }
    return places;
}

/** Levels up to the common ancestor of two ranks. */
static int distance(const iso_context_t *ctx, int i, int j)
{
    if (options.shape.count == 0) {
        return ctx->places[i].node != ctx->places[j].node;
    }
    int a = slot_of_rank(i), b = slot_of_rank(j), levels = 0;
    for (; levels < options.shape.count - 1; levels++) {
        a /= options.shape.value[levels];
        b /= options.shape.value[levels];
        if (a == b) {
            break;
        }
    }
    return levels;
}

/** How many slow things a pair touches. */
static int slow_things(const iso_context_t *ctx, int i, int j)
{
    int node_i = ctx->places[i].node, node_j = ctx->places[j].node;
    bool touches_node = node_i != node_j && (node_i == options.slow_node ||
                                             node_j == options.slow_node);
    return touches_node + (i == options.slow_rank || j == options.slow_rank) +
           (i == slow_pair.i && j == slow_pair.j);
}

static double exact_time(const iso_context_t *ctx, int i, int j,
                         long long bytes)
{
    double seconds =
        2 * (options.latency * pow(options.step, distance(ctx, i, j)) +
             (double)bytes / options.bandwidth);
    return seconds * pow(options.slow_factor, slow_things(ctx, i, j));
}

static iso_summary_t make_up(iso_sampler_t *sampler, double exact,
                             uint64_t *state)
{
    int wanted;
    iso_sampler_reset(sampler);
    while ((wanted = iso_sampler_wants(sampler)) > 0) {
        for (int k = 0; k < wanted; k++) {
            double late = options.noise ? -log(iso_random_uniform(state)) : 0;
            sampler->seconds[sampler->n++] = exact * (1 + options.noise * late);
        }
    }
    return iso_sampler_summary(sampler);
}

/** Make up a pair; one that is slow a second time, as if measured alone. */
static void make_up_pair(const iso_context_t *ctx, iso_sampler_t *sampler,
                         iso_pair_blocks_t *blocks, iso_pair_t pair, int size,
                         uint64_t *state)
{
    double exact = exact_time(ctx, pair.i, pair.j, options.sizes.bytes[size]);
    for (int n = 0; n <= (slow_things(ctx, pair.i, pair.j) > 0); n++) {
        iso_summary_t summary = make_up(sampler, exact, state);
        iso_pair_record_t record = {.i = pair.i,
                                    .j = pair.j,
                                    .summary = summary,
                                    .batch = 1,
                                    .retest = n > 0};
        iso_pair_blocks_add(blocks, size, &record);
    }
}

static int format(int ranks)
{
    return iso_pair_format(ranks, false);
}

static iso_outcome_t run(iso_context_t *ctx)
{
    if (ctx->rank != 0) {
        return ISO_COMPLETE;
    }
    iso_sampler_t sampler;
    uint64_t state = options.seed;
    long done = 0, total = (long)ctx->ranks * (ctx->ranks - 1) / 2;
    iso_sampler_init(&sampler, false);
    iso_pair_blocks_t *blocks = iso_pair_blocks_open(
        ctx->record, &options.sizes, format(ctx->ranks), false);
    for (int i = 0; i < ctx->ranks; i++) {
        for (int j = i + 1; j < ctx->ranks; j++) {
            for (int k = 0; k < options.sizes.count; k++) {
                make_up_pair(ctx, &sampler, blocks, (iso_pair_t){i, j}, k,
                             &state);
            }
            iso_progress(ctx, ++done, total, options.latency);
        }
        iso_pair_blocks_flush(blocks);
    }
    iso_pair_blocks_close(blocks);
    iso_sampler_free(&sampler);
    return ISO_COMPLETE;
}

const iso_experiment_t iso_experiment_synthetic = {
    .name = "synthetic",
    .summary = "a synthetic latency map of known times; nothing is measured",
    .kind = "latency-map",
    .options = all_options,
    .min_ranks = 1,
    .check = check,
    .resolve = iso_sampler_resolve,
    .invent = invent,
    .format = format,
    .run = run,
};
