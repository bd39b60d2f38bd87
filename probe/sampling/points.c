/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampling/points.h"

#include "base/check.h"

#include <math.h>
#include <string.h>

/** Automatic sizes begin with so many equal intervals; in a wide range, whose
 *  end is so many times its start, with powers of a factor. */
enum { FIRST_INTERVALS = 8, WIDE = 64, FACTOR = 4 };

static const double OUTLIER = 0.1;

/** In a simulator the first and the last operation of several meet other
 *  messages on the links: times that differ by less are the same. */
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

/** Index of a point, or of the place where it belongs. */
static int place_of(const iso_points_t *points, int subject, long long bytes)
{
    int k = 0;
    while (k < points->count && (points->items[k].subject < subject ||
                                 (points->items[k].subject == subject &&
                                  points->items[k].bytes < bytes))) {
        k++;
    }
    return k;
}

static bool is_at(const iso_points_t *points, int k, int subject,
                  long long bytes)
{
    return k < points->count && points->items[k].subject == subject &&
           points->items[k].bytes == bytes;
}

/** Add a point. @return whether it is new */
static bool add(iso_points_t *points, int subject, long long bytes)
{
    int at = place_of(points, subject, bytes);
    if (is_at(points, at, subject, bytes)) {
        return false;
    }
    if (points->count == points->capacity) {
        points->capacity = points->capacity ? 2 * points->capacity : 64;
        points->items = realloc(points->items, (size_t)points->capacity *
                                                   sizeof(*points->items));
        if (points->items == NULL) {
            ISO_FAIL("no memory for %d points", points->capacity);
        }
    }
    memmove(&points->items[at + 1], &points->items[at],
            (size_t)(points->count - at) * sizeof(*points->items));
    points->count++;
    iso_point_t *point = &points->items[at];
    memset(point, 0, sizeof(*point));
    point->subject = subject;
    point->bytes = bytes;
    iso_sampler_init(&point->sampler, points->simulated);
    point->sampler.same = SAME;
    return true;
}

static void add_bend(iso_points_t *points, int subject, long long left,
                     long long middle, long long right)
{
    if (points->bend_count == points->bend_capacity) {
        points->bend_capacity = 2 * points->bend_capacity + 64;
        points->bends = realloc(points->bends, (size_t)points->bend_capacity *
                                                   sizeof(*points->bends));
        if (points->bends == NULL) {
            ISO_FAIL("no memory for %d bends", points->bend_capacity);
        }
    }
    points->bends[points->bend_count++] =
        (iso_bend_t){subject, left, middle, right};
}

static long long round_to(double bytes, long long quantum)
{
    return (long long)llround(bytes / (double)quantum) * quantum;
}

/** The first points of automatic sizes, and all bends between them. */
static void add_first(iso_points_t *points, int subject, long long start,
                      long long stop, const iso_refinement_t *refinement)
{
    long long quantum = refinement->quantum;
    long long least = start > quantum ? start : quantum;
    start = round_to((double)start, quantum);
    stop = round_to((double)stop, quantum);
    add(points, subject, start);
    if (stop > WIDE * WIDE * least || (start > 0 && stop > WIDE * start)) {
        double first = start > 0 ? (double)start : (double)WIDE;
        for (double bytes = first; bytes < (double)stop / 2; bytes *= FACTOR) {
            add(points, subject, round_to(bytes, quantum));
        }
    } else {
        double step = (double)(stop - start) / FIRST_INTERVALS;
        for (int k = 1; k < FIRST_INTERVALS; k++) {
            add(points, subject, round_to((double)start + k * step, quantum));
        }
    }
    add(points, subject, stop);
    int first = place_of(points, subject, start);
    int last = place_of(points, subject, stop);
    for (int k = first + 1; k < last; k++) {
        const iso_point_t *middle = &points->items[k];
        add_bend(points, subject, middle[-1].bytes, middle->bytes,
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
        add(points, subject, sizes->bytes[k]);
    }
}

/**
 * How far the middle of three points is from the line between the others,
 * beyond what the 95 % intervals of all three explain; relative to the line,
 * 0 if they explain it, negative if it is below.
 */
static double off_the_line(const iso_point_t *left, const iso_point_t *middle,
                           const iso_point_t *right)
{
    const iso_summary_t *l = &left->summary, *m = &middle->summary,
                        *r = &right->summary;
    double part = (double)(middle->bytes - left->bytes) /
                  (double)(right->bytes - left->bytes);
    double line = l->median + part * (r->median - l->median);
    double noise = (m->high - m->low) / 2 +
                   (1 - part) * (l->high - l->low) / 2 +
                   part * (r->high - r->low) / 2;
    double off = m->median - line;
    return fabs(off) <= noise ? 0 : (off - copysign(noise, off)) / line;
}

static bool measured(const iso_point_t *point)
{
    return point->sampler.n > 0;
}

static int points_of(const iso_points_t *points, int subject)
{
    int count = 0;
    for (int k = 0; k < points->count; k++) {
        count += points->items[k].subject == subject;
    }
    return count;
}

/** Add the middle of an interval, unless it is there or too near. */
static int halve(iso_points_t *points, int subject, long long left,
                 long long right, const iso_refinement_t *refinement)
{
    long long middle =
        round_to(0.5 * (double)(left + right), refinement->quantum);
    if (right - left <= refinement->smallest_gap || middle == left ||
        middle == right) {
        return 0;
    }
    if (points_of(points, subject) >= refinement->max_points) {
        points->full = true;
        return 0;
    }
    if (!add(points, subject, middle)) {
        return 0;
    }
    add_bend(points, subject, left, middle, right);
    return 1;
}

int iso_points_refine(iso_points_t *points, const iso_refinement_t *refinement)
{
    int added = 0, looked_at = points->bend_count;
    for (int k = 0; k < looked_at; k++) {
        iso_bend_t bend = points->bends[k];
        const iso_point_t *left =
            &points->items[place_of(points, bend.subject, bend.left)];
        const iso_point_t *middle =
            &points->items[place_of(points, bend.subject, bend.middle)];
        const iso_point_t *right =
            &points->items[place_of(points, bend.subject, bend.right)];
        if (!measured(left) || !measured(middle) || !measured(right) ||
            fabs(off_the_line(left, middle, right)) <= refinement->tolerance) {
            continue;
        }
        added +=
            halve(points, bend.subject, bend.left, bend.middle, refinement);
        added +=
            halve(points, bend.subject, bend.middle, bend.right, refinement);
    }
    points->bend_count -= looked_at;
    memmove(points->bends, points->bends + looked_at,
            (size_t)points->bend_count * sizeof(*points->bends));
    return added;
}

bool iso_points_is_outlier(const iso_points_t *points, int index)
{
    const iso_point_t *point = &points->items[index];
    if (index == 0 || index == points->count - 1 ||
        point[-1].subject != point->subject ||
        point[1].subject != point->subject || !measured(point) ||
        !measured(point - 1) || !measured(point + 1)) {
        return false;
    }
    return off_the_line(point - 1, point, point + 1) > OUTLIER;
}
