/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampling/bends.h"

#include "base/check.h"
#include "base/order.h"

#include <math.h>

/**
 * After so many passes, a bend is real if the middle was off to the other side
 * in at most so many of them. On a straight line that is so in 2 % of cases
 * (binomial). If more than a third were, it is straight.
 */
static const struct {
    int rounds, exceptions;
} stages[] = {{6, 0}, {12, 2}, {ISO_MAX_ROUNDS, 6}};

void iso_bends_add(iso_points_t *points, int subject, long long left,
                   long long middle, long long right)
{
    ISO_GROW(points->bends, points->bend_count, points->bend_capacity);
    iso_point_t *point =
        &points->items[iso_points_place(points, subject, middle)];
    point->left = left;
    point->right = right;
    points->bends[points->bend_count++] = (iso_bend_t){
        .subject = subject, .left = left, .middle = middle, .right = right};
}

/** How far the middle of three times is from the line between the others,
 *  relative to the line; negative if it is below. */
static double off_by(double left, double middle, double right, double part)
{
    double line = left + part * (right - left);
    return line > 0 ? (middle - line) / line : 0;
}

/** Add the middle of an interval, unless it is there or too near. */
static int halve(iso_points_t *points, int subject, long long left,
                 long long right, const iso_refinement_t *refinement)
{
    long long middle =
        iso_points_round(0.5 * (left + right), refinement->quantum);
    if (iso_points_near(left, right, refinement) || middle == left ||
        middle == right) {
        return 0;
    }
    if (iso_points_of(points, subject) >= refinement->max_points) {
        points->full = true;
        return 0;
    }
    if (!iso_points_insert(points, subject, middle)) {
        return 0;
    }
    iso_bends_add(points, subject, left, middle, right);
    return 1;
}

/** The points of a bend. */
struct triple {
    iso_point_t *left, *middle, *right;
};

static struct triple points_of_bend(iso_points_t *points, const iso_bend_t *b)
{
    iso_point_t *items = points->items;
    return (struct triple){
        &items[iso_points_place(points, b->subject, b->left)],
        &items[iso_points_place(points, b->subject, b->middle)],
        &items[iso_points_place(points, b->subject, b->right)]};
}

/** The middle of what the passes have brought. */
static double typical_off(const iso_bend_t *bend)
{
    double sorted[ISO_MAX_ROUNDS];
    int n = bend->rounds;
    memcpy(sorted, bend->off, n * sizeof(*sorted));
    iso_sort(sorted, n);
    return n > 0 ? 0.5 * (sorted[(n - 1) / 2] + sorted[n / 2]) : 0;
}

/** Judge a bend whose points have just been measured. */
static iso_verdict_t suspect(iso_points_t *points, iso_bend_t *bend,
                             double tolerance)
{
    struct triple t = points_of_bend(points, bend);
    if (!iso_points_measured(t.left) || !iso_points_measured(t.middle) ||
        !iso_points_measured(t.right)) {
        return ISO_BEND_STRAIGHT; /* for want of time, or given up */
    }
    double off = off_by(t.left->summary.median, t.middle->summary.median,
                        t.right->summary.median,
                        iso_points_part(t.left, t.middle, t.right));
    if (fabs(off) <= tolerance) {
        return ISO_BEND_STRAIGHT;
    }
    if (points->simulated) { /* nothing varies there */
        bend->off[bend->rounds++] = off;
        return ISO_BEND_REAL;
    }
    return ISO_BEND_SUSPECTED;
}

/** Judge a bend after some passes over its points. */
static iso_verdict_t confirm(const iso_bend_t *bend, double tolerance)
{
    double typical = typical_off(bend);
    int exceptions = 0;
    for (int k = 0; k < bend->rounds; k++) {
        exceptions += bend->off[k] * typical <= 0;
    }
    for (size_t k = 0; k < ISO_LENGTH(stages); k++) {
        if (bend->rounds != stages[k].rounds) {
            continue;
        }
        if (fabs(typical) <= tolerance || 3 * exceptions > bend->rounds ||
            (exceptions > stages[k].exceptions &&
             bend->rounds == ISO_MAX_ROUNDS)) {
            return ISO_BEND_STRAIGHT;
        }
        if (exceptions <= stages[k].exceptions) {
            return ISO_BEND_REAL;
        }
    }
    return ISO_BEND_SUSPECTED;
}

bool iso_bends_question(iso_points_t *points,
                        const iso_refinement_t *refinement)
{
    bool any = false;
    for (int k = 0; k < points->count; k++) {
        points->items[k].questioned = false;
    }
    for (int k = 0; k < points->bend_count; k++) {
        iso_bend_t *bend = &points->bends[k];
        if (bend->verdict == ISO_BEND_NEW) {
            bend->verdict = suspect(points, bend, refinement->tolerance);
        } else if (bend->verdict == ISO_BEND_SUSPECTED) {
            bend->verdict = confirm(bend, refinement->tolerance);
        }
        if (bend->verdict == ISO_BEND_SUSPECTED) {
            struct triple t = points_of_bend(points, bend);
            t.left->questioned = t.middle->questioned = true;
            t.right->questioned = any = true;
        }
    }
    return any;
}

static double latest_pass(const iso_point_t *point)
{
    return point->sampler.passes[point->sampler.pass_count - 1];
}

void iso_bends_note(iso_points_t *points)
{
    for (int k = 0; k < points->bend_count; k++) {
        iso_bend_t *bend = &points->bends[k];
        if (bend->verdict != ISO_BEND_SUSPECTED) {
            continue;
        }
        struct triple t = points_of_bend(points, bend);
        bend->off[bend->rounds++] = off_by(
            latest_pass(t.left), latest_pass(t.middle), latest_pass(t.right),
            iso_points_part(t.left, t.middle, t.right));
    }
}

/** The largest bend first. */
static int compare_bends(const void *left, const void *right)
{
    double a = fabs(typical_off(left)), b = fabs(typical_off(right));
    return (a < b) - (a > b);
}

/**
 * Look at points whose neighbours are not those they were compared with. Two
 * bends are easily missed, one on each side of a middle that happens to be on
 * the line.
 *
 * @return number of bends to look at
 */
static int look_at_neighbours(iso_points_t *points,
                              const iso_refinement_t *refinement)
{
    int added = 0;
    for (int k = 1; k + 1 < points->count; k++) {
        const iso_point_t *p = &points->items[k];
        long long left = p[-1].bytes, right = p[1].bytes;
        long long before = p->bytes - left, after = right - p->bytes;
        if (p[-1].subject == p->subject && p[1].subject == p->subject &&
            (p->left != left || p->right != right) &&
            !iso_points_near(before > after ? left : p->bytes,
                             before > after ? p->bytes : right, refinement)) {
            iso_bends_add(points, p->subject, left, p->bytes, right);
            added++;
        }
    }
    return added;
}

int iso_bends_refine(iso_points_t *points, const iso_refinement_t *refinement)
{
    int added = 0, judged = points->bend_count, real = 0;
    for (int k = 0; k < judged; k++) {
        if (points->bends[k].verdict == ISO_BEND_REAL) {
            points->bends[real++] = points->bends[k];
        }
    }
    if (real > 0) {
        qsort(points->bends, real, sizeof(*points->bends), compare_bends);
    }
    for (int k = 0; k < real; k++) {
        iso_bend_t bend = points->bends[k]; /* halve makes room for others */
        added +=
            halve(points, bend.subject, bend.left, bend.middle, refinement);
        added +=
            halve(points, bend.subject, bend.middle, bend.right, refinement);
    }
    if (added == 0) {
        added = look_at_neighbours(points, refinement);
    }
    points->bend_count -= judged;
    memmove(points->bends, points->bends + judged,
            points->bend_count * sizeof(*points->bends));
    return added;
}
