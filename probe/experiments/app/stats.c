/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "experiments/app/stats.h"

#include "base/check.h"

#include <sys/resource.h>

static long switches_so_far(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_nivcsw : 0;
}

void iso_stats_init(iso_stats_t *stats, const iso_app_t *app)
{
    stats->phases = iso_calloc(app->phase_count, sizeof(double));
    stats->room = app->background || app->iterations > ISO_MAX_STORED
                      ? ISO_MAX_STORED
                      : app->iterations;
    stats->each = iso_calloc(stats->room, sizeof(double));
}

void iso_stats_free(iso_stats_t *stats)
{
    free(stats->phases);
    free(stats->each);
}

void iso_stats_begin(iso_stats_t *stats, const iso_app_t *app, double now)
{
    stats->computing = stats->requested = stats->delivered = 0;
    stats->iterations = 0;
    memset(stats->phases, 0, app->phase_count * sizeof(double));
    stats->switches = switches_so_far();
    stats->begin = now;
}

void iso_stats_end(iso_stats_t *stats, double now)
{
    stats->end = now;
    stats->switches = switches_so_far() - stats->switches;
}
