/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampling/time_limit.h"

#include "runfile/record.h"

#include <math.h>

static double limit;

const iso_option_t iso_time_limit_options[] = {
    {"time-limit", ISO_OPTION_SECONDS, "TIME", "0",
     "stop after TIME, such as 5m; if needed, measure fewer repetitions, sizes "
     "or pairs; 0: no limit",
     &limit},
    {0},
};

double iso_time_limit_left_of(const iso_context_t *ctx, double part)
{
    return limit > 0 ? part * limit - (iso_now() - ctx->started) : INFINITY;
}

double iso_time_limit_left(const iso_context_t *ctx)
{
    return iso_time_limit_left_of(ctx, 1);
}

bool iso_time_limit_over(const iso_context_t *ctx)
{
    return iso_time_limit_left(ctx) <= 0;
}

void iso_time_limit_warn(const iso_context_t *ctx, long done, long total,
                         const char *what)
{
    iso_record_warning(ctx->record, "cut-short",
                       "time limit of %g s reached after %ld of %ld %s", limit,
                       done, total, what);
}

void iso_time_limit_warn_lowered(const iso_context_t *ctx, long lowered,
                                 long points)
{
    iso_record_warning(
        ctx->record, "repeats-lowered",
        "time limit of %g s: fewer repetitions for %ld of %ld points", limit,
        lowered, points);
}
