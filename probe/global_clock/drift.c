/* SPDX-License-Identifier: BSD-3-Clause */
#include "global_clock/drift.h"

#include <math.h>

static const double PRIOR = 20e-6, WANDER = 1e-7;
static const double MIN_BOUND = 1e-9; /* 0 would weigh infinitely */

static double weight(const iso_offset_t *offset, double newest)
{
    double bound = fmax(offset->bound, MIN_BOUND);
    double faded = WANDER * (newest - offset->own);
    return 1 / (bound * bound / 3 + faded * faded);
}

iso_drift_t iso_drift_fit(const iso_offset_t *offsets, int count)
{
    double newest = offsets[count - 1].own, base = offsets[count - 1].seconds;
    double total = 0, own = 0, offset = 0;
    for (int k = 0; k < count; k++) {
        double w = weight(&offsets[k], newest);
        total += w;
        own += w * (offsets[k].own - newest);
        offset += w * (offsets[k].seconds - base);
    }
    iso_drift_t line = {.reference = newest + own / total,
                        .offset = base + offset / total,
                        .offset_variance = 1 / total};
    double precision = 1 / (PRIOR * PRIOR), moment = 0;
    for (int k = 0; k < count; k++) {
        double w = weight(&offsets[k], newest);
        double apart = offsets[k].own - line.reference;
        precision += w * apart * apart;
        moment += w * apart * (offsets[k].seconds - line.offset);
    }
    line.drift = moment / precision;
    line.drift_variance = 1 / precision;
    return line;
}

iso_drift_t iso_drift_compose(const iso_drift_t *first,
                              const iso_drift_t *second)
{
    double apart = first->reference + first->offset - second->reference;
    iso_drift_t line = {.reference = first->reference};
    line.offset = first->offset + second->offset + second->drift * apart;
    line.drift = first->drift + second->drift + first->drift * second->drift;
    line.offset_variance = first->offset_variance + second->offset_variance +
                           apart * apart * second->drift_variance;
    line.drift_variance = first->drift_variance + second->drift_variance;
    return line;
}

double iso_drift_other(const iso_drift_t *line, double own)
{
    return own + line->offset + line->drift * (own - line->reference);
}

double iso_drift_own(const iso_drift_t *line, double other)
{
    double apart = other - (line->reference + line->offset);
    return line->reference + apart / (1 + line->drift);
}

double iso_drift_growth(const iso_drift_t *line)
{
    return sqrt(line->drift_variance + WANDER * WANDER);
}
