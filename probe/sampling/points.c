/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampling/points.h"

#include "base/check.h"
#include "sampling/bends.h"

#include <math.h>

/** Automatic sizes begin with so many equal intervals; in a wide range, whose
 *  end is so many times its start, with powers of a factor. */
enum { FIRST_INTERVALS = 8, WIDE = 64, FACTOR = 4 };

static const double OUTLIER = 0.1;

/** A slope between sizes that are nearer than that would be mostly noise. */
static const double NEAR = 0.02;

/** In a simulator the first and the last operation of several meet other
 *  messages on the links: smaller differences are ignored. */
static const double SAME = 2e-3;

void iso_points_init(iso_points_t *points, bool simulated)
{
    memset(points, 0, sizeof(*points));
    points->simulated = simulated;
}

void iso_points_free(iso_points_t *points)
{
    for (int k = 0; k < points->count; k++) {
        iso_sampler_free(&points->items[k].sampler);
    }
    free(points->items);
    free(points->bends);
}

int iso_points_place(const iso_points_t *points, int subject, long long bytes)
{
    int low = 0, high = points->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        const iso_point_t *p = &points->items[middle];
        if (p->subject < subject ||
            (p->subject == subject && p->bytes < bytes)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool is_at(const iso_points_t *points, int k, int subject,
                  long long bytes)
{
    return k < points->count && points->items[k].subject == subject &&
           points->items[k].bytes == bytes;
}

bool iso_points_insert(iso_points_t *points, int subject, long long bytes)
{
    int at = iso_points_place(points, subject, bytes);
    if (is_at(points, at, subject, bytes)) {
        return false;
    }
    ISO_GROW(points->items, points->count, points->capacity);
    memmove(&points->items[at + 1], &points->items[at],
            (points->count - at) * sizeof(*points->items));
    points->count++;
    iso_point_t *point = &points->items[at];
    memset(point, 0, sizeof(*point));
    point->subject = subject;
    point->bytes = bytes;
    iso_sampler_init(&point->sampler, points->simulated);
    point->sampler.same = SAME;
    point->sampler.by_pass = true;
    return true;
}

int iso_points_of(const iso_points_t *points, int subject)
{
    return iso_points_place(points, subject + 1, 0) -
           iso_points_place(points, subject, 0);
}

long long iso_points_round(double bytes, long long quantum)
{
    return llround(bytes / quantum) * quantum;
}

/** The starting sizes: equally spaced, or powers of a factor. */
static void add_grid(iso_points_t *points, int subject, long long start,
                     long long stop, long long quantum)
{
    long long least = start > quantum ? start : quantum;
    iso_points_insert(points, subject, start);
    if (stop > WIDE * WIDE * least || (start > 0 && stop > WIDE * start)) {
        double first = start > 0 ? start : WIDE;
        for (double bytes = first; bytes < (double)stop / 2; bytes *= FACTOR) {
            iso_points_insert(points, subject,
                              iso_points_round(bytes, quantum));
        }
    } else {
        double step = (double)(stop - start) / FIRST_INTERVALS;
        for (int k = 1; k < FIRST_INTERVALS; k++) {
            iso_points_insert(points, subject,
                              iso_points_round(start + k * step, quantum));
        }
    }
    iso_points_insert(points, subject, stop);
}

bool iso_points_near(long long left, long long right,
                     const iso_refinement_t *refinement)
{
    return right - left <= refinement->smallest_gap ||
           (right - left) <= NEAR * right;
}

/** Add the middles of the starting intervals: a bump between two sizes does not
 *  show in them. */
static void add_middles(iso_points_t *points, int subject, long long start,
                        long long stop, const iso_refinement_t *refinement)
{
    int first = iso_points_place(points, subject, start);
    int last = iso_points_place(points, subject, stop);
    for (int k = last; k > first; k--) { /* those before k stay in place */
        long long left = points->items[k - 1].bytes;
        long long right = points->items[k].bytes;
        if (!iso_points_near(left, right, refinement) &&
            iso_points_of(points, subject) < refinement->max_points) {
            iso_points_insert(
                points, subject,
                iso_points_round(0.5 * (left + right), refinement->quantum));
        }
    }
}

/** The first points of automatic sizes, and all bends between them. */
static void add_first(iso_points_t *points, int subject, long long start,
                      long long stop, const iso_refinement_t *refinement)
{
    start = iso_points_round(start, refinement->quantum);
    stop = iso_points_round(stop, refinement->quantum);
    add_grid(points, subject, start, stop, refinement->quantum);
    add_middles(points, subject, start, stop, refinement);
    int first = iso_points_place(points, subject, start);
    int last = iso_points_place(points, subject, stop);
    for (int k = first + 1; k < last; k++) {
        const iso_point_t *middle = &points->items[k];
        iso_bends_add(points, subject, middle[-1].bytes, middle->bytes,
                      middle[1].bytes);
    }
}

void iso_points_add(iso_points_t *points, int subject, const iso_sizes_t *sizes,
                    const iso_refinement_t *refinement)
{
    if (sizes->automatic) {
        add_first(points, subject, sizes->bytes[0], sizes->bytes[1],
                  refinement);
        return;
    }
    for (int k = 0; k < sizes->count; k++) {
        iso_points_insert(points, subject, sizes->bytes[k]);
    }
}

/** Part of the way from left to right at which the middle lies. */
double iso_points_part(const iso_point_t *left, const iso_point_t *middle,
                       const iso_point_t *right)
{
    return (middle->bytes - left->bytes) / (double)(right->bytes - left->bytes);
}

/**
 * How far the middle of three points is above the line between the others,
 * beyond what the 95 % intervals of all three explain; relative to the line, 0
 * if they explain it.
 */
static double above_the_line(const iso_point_t *left, const iso_point_t *middle,
                             const iso_point_t *right)
{
    const iso_summary_t *l = &left->summary, *m = &middle->summary,
                        *r = &right->summary;
    double part = iso_points_part(left, middle, right);
    double line = l->median + part * (r->median - l->median);
    double noise = (m->high - m->low) / 2 +
                   (1 - part) * (l->high - l->low) / 2 +
                   part * (r->high - r->low) / 2;
    return line > 0 ? fmax(0, m->median - line - noise) / line : 0;
}

bool iso_points_measured(const iso_point_t *point)
{
    return point->sampler.n > 0;
}

bool iso_points_is_outlier(const iso_points_t *points, int index)
{
    const iso_point_t *point = &points->items[index];
    if (index == 0 || index == points->count - 1 ||
        point[-1].subject != point->subject ||
        point[1].subject != point->subject || !iso_points_measured(point) ||
        !iso_points_measured(point - 1) || !iso_points_measured(point + 1)) {
        return false;
    }
    return above_the_line(point - 1, point, point + 1) > OUTLIER;
}
