/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampling/quality.h"

/** Width of a 95 % interval of the median, relative to it: 10 % either way. */
static const double UNSTEADY = 0.2;

void iso_quality_add(iso_quality_t *quality, const iso_summary_t *s)
{
    quality->points++;
    quality->missed += iso_sampler_missed(s);
    quality->unsteady += s->high - s->low > UNSTEADY * s->median;
}

void iso_quality_warn(const iso_quality_t *quality, iso_record_t *record)
{
    if (quality->missed > 0) {
        iso_record_warning(
            record, "precision-missed",
            "%ld of %ld points did not reach the requested precision "
            "within --max-repeats and --max-time",
            quality->missed, quality->points);
    }
    if (10 * quality->unsteady > quality->points) {
        iso_record_warning(record, "noisy",
                           "%ld of %ld medians are uncertain by more than 10 "
                           "%%: noisy machine, or too few --repeats",
                           quality->unsteady, quality->points);
    }
}
