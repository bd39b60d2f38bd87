/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiments/hotspot/star_points.h"

#include "base/check.h"
#include "experiments/hotspot/star_record.h"

/** Source and destination of the points. */
typedef struct {
    iso_star_points_t *points;
    const iso_star_t *star;
    const iso_star_wanted_t *wanted;
} making_t;

/** A point in every order and size. */
static void add(const making_t *making, int intra, int in, int out, int ring)
{
    const iso_star_wanted_t *wanted = making->wanted;
    iso_star_points_t *points = making->points;
    for (int inter_first = 0; inter_first < 2; inter_first++) {
        if (!(inter_first ? wanted->inter_first : wanted->intra_first)) {
            continue;
        }
        for (int k = 0; k < wanted->sizes->count; k++) {
            ISO_GROW(points->point, points->count, points->capacity);
            points->point[points->count++] =
                (iso_star_point_t){.intra = intra,
                                   .in = in,
                                   .out = out,
                                   .inter_first = inter_first,
                                   .bytes = wanted->sizes->bytes[k],
                                   .ring = ring};
        }
    }
}

static void miss(const making_t *making, long intra, long inter)
{
    iso_star_record_unreachable(making->star, making->wanted->hot, intra,
                                inter);
    making->points->unreachable++;
}

static bool reaches(const iso_star_t *star, long intra, long inter)
{
    return star->hot > 0 && intra <= star->reach_intra &&
           inter <= star->reach_inter;
}

/* --- every number of partners -------------------------------------------- */

/** All points with these partners: equal ones only, or all that need them. */
static void add_partners(const making_t *making, int intra, int inter)
{
    if (intra + inter == 0) {
        return; /* there is nothing to exchange */
    }
    add(making, intra, inter, inter, 0);
    for (int less = 0; making->wanted->unequal && less < inter; less++) {
        add(making, intra, less, inter, 0);
        add(making, intra, inter, less, 0);
    }
}

void iso_star_points_full(iso_star_points_t *points, const iso_star_t *star,
                          const iso_star_wanted_t *wanted)
{
    making_t making = {points, star, wanted};
    for (int intra = 0; intra <= wanted->max_intra; intra++) {
        for (int inter = 0; inter <= wanted->max_inter; inter++) {
            if (reaches(star, intra, inter)) {
                add_partners(&making, intra, inter);
            } else {
                miss(&making, intra, inter);
            }
        }
    }
}

/* --- few of them --------------------------------------------------------- */

/** 0, 1, half and all available partners, each once. @return how many */
static int few_numbers(int reach, int *number)
{
    int count = 0, some[] = {0, 1, (reach + 1) / 2, reach};
    for (int k = 0; k < 4; k++) {
        if (some[k] <= reach && (k == 0 || some[k] > number[count - 1])) {
            number[count++] = some[k];
        }
    }
    return count;
}

static void add_between(const making_t *making)
{
    bool unequal = making->wanted->unequal;
    int number[4], count = few_numbers(making->star->reach_inter, number);
    for (int i = 0; i < count; i++) {
        for (int o = 0; o < count; o++) {
            if (i + o > 0 && (i == o || unequal)) {
                add(making, 0, number[i], number[o], 0);
            }
        }
    }
    /* Where all nodes are busy, the other way round is the same. */
    count = few_numbers(making->star->reach_ring, number);
    for (int i = 1; i < count; i++) {
        for (int o = unequal ? 0 : i; o <= i; o++) {
            add(making, 0, number[i], number[o], 1);
        }
    }
}

/** With all partners inside the node, and more on others than one. */
static void add_with_inside(const making_t *making, int all, int reach,
                            int ring)
{
    int half = (reach + 1) / 2;
    if (half > 1 && half < reach) {
        add(making, all, half, half, ring);
    }
    if (reach > 1) {
        add(making, all, reach, reach, ring);
    }
    if (reach > 1 && making->wanted->unequal) {
        add(making, all, reach, 0, ring);
    }
    if (reach > 1 && making->wanted->unequal && !ring) {
        add(making, all, 0, reach, ring);
    }
}

void iso_star_points_coarse(iso_star_points_t *points, const iso_star_t *star,
                            const iso_star_wanted_t *wanted)
{
    making_t making = {points, star, wanted};
    int all = star->reach_intra;
    if (!reaches(star, wanted->max_intra, 0)) {
        miss(&making, wanted->max_intra, 0);
    }
    if (!reaches(star, 0, wanted->max_inter)) {
        miss(&making, 0, wanted->max_inter);
    }
    if (star->hot == 0) {
        return;
    }
    add_between(&making);
    for (int intra = 1; intra <= all; intra += all > 1 ? all - 1 : 1) {
        add(&making, intra, 0, 0, 0);
    }
    if (all > 0) {
        if (star->reach_inter > 0) {
            add_partners(&making, all, 1);
        }
        add_with_inside(&making, all, star->reach_inter, 0);
        add_with_inside(&making, all, star->reach_ring, 1);
    }
}
