/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L
#include "global_clock/sync.h"

#include "base/check.h"
#include "base/order.h"
#include "experiment.h"
#include "global_clock/offset.h"
#include "machine/own_collectives.h"
#include "machine/system_clock.h"
#include "messages/idle.h"

/* --- tree -------------------------------------------------------------- */

/*
 * The ranks as a tree that follows the machine: few messages cross nodes, and
 * no rank has many to serve.
 *
 * The lowest rank of a node is its leader. Leaders form a binomial tree from
 * rank 0. The other ranks of a node hang on its leader, eight at most; if there
 * are more, on these, eight on each, and so on.
 */

typedef struct {
    int parent;      /**< of this rank; -1 at rank 0 */
    int *children;   /**< first those that have most children of their own */
    int child_count; /**< how many */
} iso_tree_t;

enum { MAX_CHILDREN = 8 };

/** A node while its ranks are hung up. */
struct node {
    int leader, last;   /* first and last rank so far; leader -1: none */
    int parent, served; /* the rank that takes the next ones; it has so many */
};

/**
 * Attach one more rank. Nodes are numbered in rank order, so the
 * leader of node k is leader number k, and its parent is k without its lowest
 * bit. Inside a node the ranks fill a tree level by level.
 *
 * @param next  by rank: the next rank of its node
 */
static int parent_of(int rank, int number, struct node *nodes, int *next)
{
    struct node *node = &nodes[number];
    if (node->leader < 0) {
        *node = (struct node){rank, rank, rank, 0};
        return number > 0 ? nodes[number & (number - 1)].leader : -1;
    }
    next[node->last] = rank;
    node->last = rank;
    if (node->served == MAX_CHILDREN) {
        node->parent = next[node->parent];
        node->served = 0;
    }
    node->served++;
    return node->parent;
}

/** Store the children, those with most children first. */
static void keep_children(iso_tree_t *tree, const iso_context_t *ctx,
                          const int *parent)
{
    int rank = ctx->rank, size = ctx->size;
    const int *node_of = ctx->node_of;
    tree->children = ISO_NEW(int, size);
    for (int r = size - 1; r > 0; r--) {
        if (parent[r] == rank && node_of[r] != node_of[rank]) {
            tree->children[tree->child_count++] = r;
        }
    }
    for (int r = 0; r < size; r++) {
        if (parent[r] == rank && node_of[r] == node_of[rank]) {
            tree->children[tree->child_count++] = r;
        }
    }
}

/** Find the place of this rank. Collective over ctx->control. */
static iso_tree_t iso_tree_grow(const iso_context_t *ctx)
{
    iso_tree_t tree = {0};
    size_t size = ctx->size;
    int *next = ISO_NEW(int, size);
    int *parent = ISO_NEW(int, size);
    struct node *nodes = ISO_NEW(struct node, size);
    for (int n = 0; n < ctx->size; n++) {
        nodes[n].leader = -1;
    }
    for (int r = 0; r < ctx->size; r++) {
        parent[r] = parent_of(r, ctx->node_of[r], nodes, next);
    }
    tree.parent = parent[ctx->rank];
    keep_children(&tree, ctx, parent);
    free(nodes);
    free(parent);
    free(next);
    return tree;
}

enum { MAX_OFFSETS = 32, AHEAD = 1 };

/** Seconds before an awaited moment at which a rank is to be awake. */
static const double AWAKE = 200e-6;

enum { TAG_LINE = 2101, TAG_REPORT, TAG_RELEASE };

static struct {
    double tolerance, age;
    long exchanges;
} options;

const iso_option_t iso_sync_options[] = {
    {"clock-tolerance", ISO_OPTION_SECONDS | ISO_EXPERT, "TIME", "5us",
     "with synchronised clocks: their largest error before they are "
     "synchronised again",
     &options.tolerance},
    {"sync-age", ISO_OPTION_SECONDS | ISO_EXPERT, "TIME", "10s",
     "with synchronised clocks: longest time between two synchronisations",
     &options.age},
    {"sync-exchanges", ISO_OPTION_COUNT | ISO_EXPERT, "N", "20",
     "with synchronised clocks: compare two until N exchanges in a row had no "
     "shorter round trip",
     &options.exchanges},
    {0},
};

int iso_sync_check(char *error)
{
    if (options.tolerance <= 0 || options.age <= 0 || options.exchanges < 1) {
        return ISO_REFUSE(
            error, "--clock-tolerance, --sync-age and --sync-exchanges must be "
                   "above 0");
    }
    return 0;
}

/** Report of a rank to rank 0 after synchronising. All doubles: one MPI type.
 */
struct report {
    double residual, bound; /* of its check; bound -1: it made none */
    double at;              /* global clock when its line was fitted */
    double offset, drift;   /* global clock minus its own then; its line's */
    double growth;
};

enum { REPORT_DOUBLES = sizeof(struct report) / sizeof(double) };
enum { LINE_DOUBLES = sizeof(iso_drift_t) / sizeof(double) };

struct iso_sync {
    const iso_context_t *ctx;
    bool one_clock; /**< inactive: a simulator's clocks, not bent */
    iso_tree_t tree;
    iso_reading_t own;                 /**< this rank's clock as it is */
    iso_reading_t global;              /**< the same through the line */
    iso_drift_t line;                  /**< own clock to global clock */
    iso_offset_t offsets[MAX_OFFSETS]; /**< to the parent, newest last */
    int offset_count;
    double shortest;        /**< round trip ever seen with the parent */
    double synchronised;    /**< rank 0: when, by its clock */
    double spent;           /**< duration */
    struct report *reports; /**< rank 0: of all ranks */
};

/* --- synchronising ------------------------------------------------------- */

static void remember(iso_sync_t *sync, iso_offset_t offset)
{
    if (sync->offset_count == MAX_OFFSETS) {
        memmove(sync->offsets, sync->offsets + 1,
                (MAX_OFFSETS - 1) * sizeof(iso_offset_t));
        sync->offset_count--;
    }
    sync->offsets[sync->offset_count++] = offset;
    sync->shortest = fmin(sync->shortest, 2 * offset.bound);
}

/** Get the own line from the parent's. */
static void follow_parent(iso_sync_t *sync)
{
    const iso_context_t *ctx = sync->ctx;
    iso_drift_t above;
    iso_idle_recv(ctx, &above, LINE_DOUBLES, MPI_DOUBLE, sync->tree.parent,
                  TAG_LINE);
    remember(sync, iso_offset_ask(ctx, sync->tree.parent, &sync->own,
                                  options.exchanges, sync->shortest));
    iso_drift_t edge = iso_drift_fit(sync->offsets, sync->offset_count);
    sync->line = iso_drift_compose(&edge, &above);
}

/** The next child is woken while one is served. */
static void lead_children(iso_sync_t *sync)
{
    const iso_context_t *ctx = sync->ctx;
    for (int k = 0; k < sync->tree.child_count + AHEAD; k++) {
        if (k < sync->tree.child_count) {
            MPI_CHECK(MPI_Send(&sync->line, LINE_DOUBLES, MPI_DOUBLE,
                               sync->tree.children[k], TAG_LINE, ctx->control));
        }
        if (k >= AHEAD) {
            iso_offset_answer(ctx, sync->tree.children[k - AHEAD], &sync->own);
        }
    }
}

double iso_sync_ask(const iso_sync_t *sync, int partner, double *bound)
{
    if (sync->one_clock) {
        *bound = 0;
        return 0;
    }
    iso_offset_t offset = iso_offset_ask(sync->ctx, partner, &sync->global,
                                         options.exchanges, INFINITY);
    *bound = offset.bound;
    return -offset.seconds;
}

void iso_sync_answer(const iso_sync_t *sync, int partner)
{
    if (!sync->one_clock) {
        iso_offset_answer(sync->ctx, partner, &sync->global);
    }
}

/** Pairs of ranks at half the job's distance compare their global clocks. */
static void check_residual(iso_sync_t *sync, struct report *mine)
{
    int rank = sync->ctx->rank, size = sync->ctx->size, half = size / 2;
    bool odd = size % 2 == 1 && size > 1;
    mine->bound = -1;
    if (rank < half) {
        mine->residual = iso_sync_ask(sync, rank + half, &mine->bound);
    } else if (rank < 2 * half) {
        iso_sync_answer(sync, rank - half);
    } else if (odd) {
        mine->residual = iso_sync_ask(sync, 0, &mine->bound);
    }
    if (rank == 0 && odd) {
        iso_sync_answer(sync, size - 1);
    }
}

static struct report own_report(const iso_sync_t *sync)
{
    double now = iso_sync_now(sync);
    struct report mine = {.at = iso_sync_global(sync, now),
                          .drift = sync->line.drift};
    mine.offset =
        sync->line.offset + sync->line.drift * (now - sync->line.reference);
    mine.growth = sync->tree.parent < 0 ? 0 : iso_drift_growth(&sync->line);
    return mine;
}

/** Report to rank 0, and sleep until all have. */
static void report_all(iso_sync_t *sync, const struct report *mine)
{
    const iso_context_t *ctx = sync->ctx;
    if (ctx->rank != 0) {
        MPI_CHECK(MPI_Send(mine, REPORT_DOUBLES, MPI_DOUBLE, 0, TAG_REPORT,
                           ctx->control));
        iso_await(ctx, 0, TAG_RELEASE);
        return;
    }
    sync->reports[0] = *mine;
    for (int r = 1; r < ctx->size; r++) {
        iso_idle_recv(ctx, &sync->reports[r], REPORT_DOUBLES, MPI_DOUBLE, r,
                      TAG_REPORT);
    }
    for (int r = 1; r < ctx->size; r++) {
        iso_signal(ctx, r, TAG_RELEASE);
    }
}

void iso_sync_refresh(iso_sync_t *sync)
{
    sync->synchronised = iso_sync_now(sync);
    if (sync->one_clock) {
        return;
    }
    if (sync->tree.parent >= 0) {
        follow_parent(sync);
    }
    struct report mine = own_report(sync);
    lead_children(sync);
    check_residual(sync, &mine);
    report_all(sync, &mine);
    sync->spent = iso_sync_now(sync) - sync->synchronised;
}

iso_sync_t *iso_sync_create_bent(const iso_context_t *ctx, double ahead,
                                 double fast)
{
    iso_sync_t *sync = ISO_NEW(iso_sync_t, 1);
    double since = ctx->started;
    iso_plain_bcast(ctx->control, &since, 1, MPI_DOUBLE);
    sync->ctx = ctx;
    sync->own = (iso_reading_t){since, ahead, fast, NULL};
    sync->global = (iso_reading_t){since, ahead, fast, &sync->line};
    sync->shortest = INFINITY;
    int bent = ahead != 0 || fast != 0;
    iso_plain_allreduce(ctx->control, &bent, 1, MPI_INT, MPI_MAX);
    sync->one_clock = ctx->clock.simulated && !bent;
    if (ctx->rank == 0) {
        sync->reports = ISO_NEW(struct report, ctx->size);
    }
    sync->tree = iso_tree_grow(ctx);
    iso_sync_refresh(sync);
    return sync;
}

iso_sync_t *iso_sync_create(const iso_context_t *ctx)
{
    return iso_sync_create_bent(ctx, 0, 0);
}

void iso_sync_free(iso_sync_t *sync)
{
    free(sync->reports);
    free(sync->tree.children);
    free(sync);
}

/* --- the clock ----------------------------------------------------------- */

double iso_sync_now(const iso_sync_t *sync)
{
    return iso_reading_now(&sync->own);
}

double iso_sync_global(const iso_sync_t *sync, double local)
{
    return iso_drift_other(&sync->line, local);
}

double iso_sync_local(const iso_sync_t *sync, double global)
{
    return iso_drift_own(&sync->line, global);
}

void iso_sync_wait(const iso_sync_t *sync, double moment)
{
    bool simulated = sync->ctx->clock.simulated;
    double asleep = moment - iso_sync_now(sync) - (simulated ? 0 : AWAKE);
    if (asleep > 0) {
        iso_sleep(asleep);
    }
    while (!simulated && iso_sync_now(sync) < moment) {
        /* so little is left that a sleep might last longer */
    }
}

/** Growth of the error of the least known clock, seconds a second. */
static double largest_growth(const iso_sync_t *sync)
{
    double growth = 0;
    for (int r = 0; r < sync->ctx->size; r++) {
        growth = fmax(growth, sync->reports[r].growth);
    }
    return growth;
}

bool iso_sync_aged(const iso_sync_t *sync)
{
    if (sync->ctx->rank != 0 || sync->one_clock) {
        return false;
    }
    double age = iso_sync_now(sync) - sync->synchronised;
    return age > options.age || age * largest_growth(sync) > options.tolerance;
}

/* --- the records --------------------------------------------------------- */

static double median(double *values, int count)
{
    iso_sort(values, count);
    return count ? (values[(count - 1) / 2] + values[count / 2]) / 2 : 0;
}

void iso_sync_record(const iso_sync_t *sync, iso_record_t *record)
{
    int size = sync->ctx->size, checks = 0;
    double *residuals = ISO_NEW(double, size);
    double *bounds = ISO_NEW(double, size);
    double drift = 0;
    for (int r = 0; r < size; r++) {
        const struct report *report = &sync->reports[r];
        drift = fmax(drift, fabs(report->drift));
        if (!sync->one_clock && report->bound >= 0) {
            residuals[checks] = fabs(report->residual);
            bounds[checks++] = report->bound;
        }
    }
    ISO_RECORD(record, "sync", ("at", sync->synchronised - sync->ctx->started),
               ("seconds", sync->spent),
               ("residual_median", median(residuals, checks)),
               ("residual_max", checks ? residuals[checks - 1] : 0),
               ("bound_median", median(bounds, checks)),
               ("bound_max", checks ? bounds[checks - 1] : 0),
               ("drift_max", drift), ("drift_error", largest_growth(sync)));
    free(bounds);
    free(residuals);
}

void iso_sync_record_clocks(const iso_sync_t *sync, iso_record_t *record)
{
    for (int r = 0; r < sync->ctx->size; r++) {
        const struct report *report = &sync->reports[r];
        double at = sync->one_clock ? sync->synchronised : report->at;
        ISO_RECORD(record, "clock", ("rank", r),
                   ("at", at - sync->ctx->started), ("offset", report->offset),
                   ("drift", report->drift));
    }
}
