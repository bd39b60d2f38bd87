/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file many_bends.c
 * Refine many curves of one shape, and print how many points each got.
 *
 *     many_bends CURVES
 */
#include "base/check.h"
#include "sampling/bends.h"

#include <math.h>

/** Give every point a time that no straight line explains. */
static void measure(iso_points_t *points)
{
    for (int k = 0; k < points->count; k++) {
        iso_point_t *point = &points->items[k];
        double seconds = 1e-9 * pow((double)point->bytes, 2) + 1e-6;
        point->sampler.n = 1;
        point->summary =
            (iso_summary_t){.median = seconds, .low = seconds, .high = seconds};
    }
}

int main(int argc, char **argv)
{
    char error[ISO_ERROR_LENGTH];
    iso_points_t points;
    iso_sizes_t sizes;
    iso_refinement_t refinement = {.tolerance = 0.02,
                                   .smallest_gap = 1LL << 47,
                                   .quantum = 1,
                                   .max_points = ISO_MAX_SIZES};
    int curves = argc > 1 ? atoi(argv[1]) : 1;
    if (iso_options_reset(iso_sampler_options, error) ||
        iso_sizes_parse("auto:1:1024TiB", &sizes, error)) {
        ISO_FAIL("%s", error);
    }
    iso_points_init(&points, true);
    for (int k = 0; k < curves; k++) {
        iso_points_add(&points, k, &sizes, &refinement);
    }
    do {
        measure(&points);
        iso_bends_question(&points, &refinement);
    } while (iso_bends_refine(&points, &refinement) > 0);
    for (int k = 0, subject = 0, count = 0; k <= points.count; k++) {
        if (k == points.count || points.items[k].subject != subject) {
            printf("%d\n", count);
            subject++;
            count = 0;
        }
        count++;
    }
    iso_points_free(&points);
    return 0;
}
