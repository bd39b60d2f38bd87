/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampling/judge.h"

#include "sampling/quality.h"
#include "sampling/time_limit.h"

iso_outcome_t iso_points_judge(const iso_points_t *points,
                               const iso_context_t *ctx, long max_points)
{
    iso_quality_t quality = {0};
    long given_up = 0, lowered = 0;
    for (int k = 0; k < points->count; k++) {
        const iso_point_t *point = &points->items[k];
        if (point->sampler.n > 0) {
            iso_quality_add(&quality, &point->summary);
            lowered += point->lowered && point->sampler.n < iso_sampler_goal();
        }
        given_up +=
            point->sampler.n == 0 && point->void_visits > ISO_MAX_VOID_VISITS;
    }
    if (given_up + quality.points < points->count) {
        iso_time_limit_warn(ctx, quality.points, points->count, "points");
    }
    if (given_up > 0) {
        iso_record_warning(
            ctx->record, "given-up",
            "%ld of %d points abandoned: all their samples were invalid",
            given_up, points->count);
    }
    if (lowered > 0) {
        iso_time_limit_warn_lowered(ctx, lowered, points->count);
    }
    if (points->full) {
        iso_record_warning(
            ctx->record, "max-points",
            "--max-points %ld is too small to resolve all bends of the curve",
            max_points);
    }
    iso_quality_warn(&quality, ctx->record);
    return quality.points == points->count ? ISO_COMPLETE : ISO_CUT_SHORT;
}
