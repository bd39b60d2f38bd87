/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* getloadavg */
#include "experiments/app/loads.h"

#include "base/check.h"
#include "machine/own_collectives.h"
#include "runfile/record.h"

/** Loads below this count as idle. */
static const double QUIET = 0.5;

void iso_loads_warn(const iso_context_t *ctx)
{
    double load = 0; /* if it is not known */
    if (ctx->clock.simulated) {
        return;
    }
    double *loads = iso_calloc((size_t)ctx->size, sizeof(double));
    int *ranks = iso_calloc((size_t)ctx->size, sizeof(int)); /* by node */
    getloadavg(&load, 1);
    iso_plain_gather(ctx->control, &load, sizeof(load), loads);
    for (int r = 0; ctx->record && r < ctx->size; r++) {
        ranks[ctx->places[r].node]++;
    }
    for (int r = 0; ctx->record && r < ctx->size; r++) {
        const iso_place_t *place = &ctx->places[r];
        if (place->cpus > 0 && loads[r] > QUIET && ranks[place->node] > 0 &&
            loads[r] + ranks[place->node] > place->cpus + QUIET) {
            iso_record_warning(
                ctx->record, "load",
                "%.80s had a load of %.1f before the start; %d ranks "
                "share its %d processors with other programs",
                place->host, loads[r], ranks[place->node], place->cpus);
            ranks[place->node] = 0; /* once a node */
        }
    }
    free(loads);
    free(ranks);
}
