/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file auto_sizes.c
 * Choose sizes for a made-up curve as a sweep does, and print them:
 *
 *     auto_sizes auto:START:STOP GAP NOISE SEED FROM:LATENCY:SECONDS_A_BYTE ...
 *     -> a line for each size: BYTES MEDIAN LOW HIGH N
 *
 * From FROM bytes on a message takes LATENCY + bytes * SECONDS_A_BYTE. NOISE is
 * a relative standard deviation of what comes together on a busy machine:
 *
 *   - repetitions follow each other with a correlation of 0.5,
 *   - one of twenty is late, by a heavy tail (Pareto, exponent 1.5),
 *   - each visit has half as much of its own,
 *   - for 10 ms of every 60, on average, all takes 1 + 5 NOISE times as long.
 */
#include "base/check.h"
#include "base/random.h"
#include "sampling/bends.h"

#include <math.h>

enum { MAX_PIECES = 16 };

static const double CORRELATION = 0.5, LATE = 0.05, TAIL = 1.5;
static const double QUIET_SECONDS = 0.05, SLOW_SECONDS = 0.01;
static const double VISIT_SECONDS = 2e-4; /* beyond the repetitions */

struct machine {
    double from[MAX_PIECES], latency[MAX_PIECES], slope[MAX_PIECES];
    int pieces;
    double noise;
    uint64_t dice;
    double now, change; /* seconds; when the slow moment ends or begins */
    bool slow;
    double last; /* deviation of the last repetition */
};

static double normal(uint64_t *dice)
{
    double a = iso_random_uniform(dice), b = iso_random_uniform(dice);
    return sqrt(-2 * log(a)) * cos(2 * acos(-1) * b);
}

static double truth(const struct machine *m, long long bytes)
{
    int k = m->pieces - 1;
    while (k > 0 && (double)bytes < m->from[k]) {
        k--;
    }
    return m->latency[k] + (double)bytes * m->slope[k];
}

/** One repetition. @param of_visit  factor of all of this visit */
static double repetition(struct machine *m, double seconds, double of_visit)
{
    while (m->now > m->change) {
        m->slow = !m->slow;
        double mean = m->slow ? SLOW_SECONDS : QUIET_SECONDS;
        m->change -= mean * log(iso_random_uniform(&m->dice));
    }
    m->last = CORRELATION * m->last +
              sqrt(1 - CORRELATION * CORRELATION) * normal(&m->dice);
    double factor = of_visit * exp(m->noise * m->last);
    if (m->noise > 0 && iso_random_uniform(&m->dice) < LATE) {
        double excess = pow(iso_random_uniform(&m->dice), -1 / TAIL) - 1;
        factor *= 1 + 10 * m->noise * excess;
    }
    factor *= m->slow ? 1 + 5 * m->noise : 1;
    m->now += 2 * seconds * factor;
    return seconds * factor;
}

/** @return whether the point wanted repetitions */
static bool visit(struct machine *m, iso_point_t *point)
{
    iso_sampler_t *sampler = &point->sampler;
    long before = sampler->n;
    int wanted = iso_sampler_wants(sampler);
    double of_visit = exp(m->noise / 2 * normal(&m->dice));
    double seconds = truth(m, point->bytes);
    for (int k = 0; k < wanted; k++) {
        sampler->seconds[sampler->n++] = repetition(m, seconds, of_visit);
    }
    if (wanted > 0) {
        m->now += VISIT_SECONDS;
        iso_sampler_close_pass(sampler, before);
        point->summary = iso_sampler_summary(sampler);
    }
    return wanted > 0;
}

/** As in sweep.c, without its time limit. */
static void sweep(struct machine *m, iso_points_t *points,
                  const iso_refinement_t *refinement)
{
    do {
        bool any = true;
        while (any) {
            any = false;
            for (int k = 0; k < points->count; k++) {
                any = visit(m, &points->items[k]) || any;
            }
        }
        while (iso_bends_question(points, refinement)) {
            for (int k = 0; k < points->count; k++) {
                iso_point_t *point = &points->items[k];
                if (point->questioned) {
                    iso_sampler_extend(&point->sampler,
                                       iso_sampler_share(&point->sampler));
                    visit(m, point);
                }
            }
            iso_bends_note(points);
        }
    } while (iso_bends_refine(points, refinement) > 0);
}

int main(int argc, char **argv)
{
    char error[ISO_ERROR_LENGTH];
    iso_sizes_t sizes;
    if (argc < 6 || argc > 5 + MAX_PIECES ||
        iso_options_reset(iso_sampler_options, error) ||
        iso_sizes_parse(argv[1], &sizes, error)) {
        ISO_FAIL("usage: see auto_sizes.c");
    }
    struct machine m = {.noise = atof(argv[3]),
                        .dice = (uint64_t)atoll(argv[4])};
    for (int k = 5; k < argc; k++, m.pieces++) {
        if (sscanf(argv[k], "%lf:%lf:%lf", &m.from[m.pieces],
                   &m.latency[m.pieces], &m.slope[m.pieces]) != 3) {
            ISO_FAIL("no piece: %s", argv[k]);
        }
    }
    iso_refinement_t refinement = {.tolerance = 0.02,
                                   .smallest_gap = atoll(argv[2]),
                                   .quantum = 1,
                                   .max_points = 100};
    iso_points_t points;
    iso_sampler_resolve(2);
    iso_points_init(&points, false);
    iso_points_add(&points, 0, &sizes, &refinement);
    sweep(&m, &points, &refinement);
    for (int k = 0; k < points.count; k++) {
        const iso_point_t *p = &points.items[k];
        printf("%lld %.9g %.9g %.9g %ld\n", p->bytes, p->summary.median,
               p->summary.low, p->summary.high, p->sampler.n);
    }
    iso_points_free(&points);
    return 0;
}
