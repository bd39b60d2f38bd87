/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampling/sampler.h"

#include "base/check.h"
#include "base/order.h"
#include "machine/heartbeat.h"

#include <math.h>

/** Passes that the repetitions are dealt out to; of ten medians all but the
 *  least and the largest enclose the true one at 95 %. */
enum { FEW_PASSES = 4, PASSES = 10 };

enum { DEFAULT_REPEATS = 100 };

static const double SAME = 1e-6;

static struct {
    long repeats; /* -1: not given */
    double precision;
    long min_repeats, max_repeats;
    double max_time;
    long warmup;
    bool repeats_given;
} options = {.repeats = -1};

const iso_option_t iso_sampler_options[] = {
    {"repeats", ISO_OPTION_COUNT, "N", NULL,
     "timed repetitions (default: 100, or as --precision needs)",
     &options.repeats},
    {"precision", ISO_OPTION_PERCENT, "PERCENT", "0",
     "repeat until the 95 % interval is within this percentage of the median; "
     "0: off",
     &options.precision},
    {"min-repeats", ISO_OPTION_COUNT | ISO_EXPERT, "N", "10",
     "with --precision: fewest repetitions of a point", &options.min_repeats},
    {"max-repeats", ISO_OPTION_COUNT | ISO_EXPERT, "N", "1000",
     "with --precision: most repetitions of a point", &options.max_repeats},
    {"max-time", ISO_OPTION_SECONDS | ISO_EXPERT, "TIME", "1s",
     "with --precision: longest measurement of a point", &options.max_time},
    {"warmup", ISO_OPTION_COUNT | ISO_EXPERT, "N", "5",
     "untimed repetitions before the timed ones of a point", &options.warmup},
    {0},
};

int iso_sampler_check(char *error)
{
    const char *wrong = NULL;
    if (options.repeats == 0) {
        wrong = "--repeats is at least 1";
    } else if (options.repeats > 0 && options.precision > 0) {
        wrong = "--repeats and --precision cannot be combined";
    } else if (options.precision >= 1) {
        wrong = "--precision is below 100%, for example 5%";
    } else if (options.min_repeats < 1 ||
               options.max_repeats < options.min_repeats) {
        wrong = "--min-repeats must be at least 1 and at most --max-repeats";
    }
    return wrong ? ISO_REFUSE(error, "%s", wrong) : 0;
}

void iso_sampler_resolve(int ranks)
{
    options.repeats_given = options.repeats > 0;
    if (options.repeats < 0) {
        options.repeats = options.precision > 0 ? 0 : DEFAULT_REPEATS;
    }
}

void iso_sampler_init(iso_sampler_t *sampler, bool simulated)
{
    sampler->simulated = simulated;
    sampler->same = SAME;
    sampler->by_pass = false;
    sampler->passes = NULL;
    sampler->pass_capacity = 0;
    bool fixed = options.repeats > 0;
    sampler->capacity = fixed ? options.repeats : options.max_repeats;
    sampler->seconds = ISO_NEW(double, sampler->capacity);
    iso_sampler_reset(sampler);
}

void iso_sampler_reset(iso_sampler_t *sampler)
{
    sampler->n = 0;
    sampler->pass_count = 0;
    sampler->extra = 0;
    sampler->spent = 0;
}

void iso_sampler_extend(iso_sampler_t *sampler, long more)
{
    sampler->capacity += more;
    sampler->seconds =
        iso_resized(sampler->seconds, sampler->capacity * sizeof(double));
    sampler->extra += more;
}

long iso_sampler_goal(void)
{
    return options.repeats > 0 ? options.repeats : options.min_repeats;
}

void iso_sampler_free(iso_sampler_t *sampler)
{
    free(sampler->passes);
    free(sampler->seconds);
    sampler->passes = sampler->seconds = NULL;
}

int iso_sampler_warmup(void)
{
    return options.warmup > 0 ? options.warmup : 1;
}

static bool precise_enough(iso_sampler_t *sampler)
{
    iso_summary_t s = iso_sampler_summary(sampler);
    return !iso_sampler_missed(&s);
}

/** Whether a simulator has shown that nothing varies here. */
static bool known_already(const iso_sampler_t *sampler)
{
    if (sampler->n < 2) {
        return false;
    }
    for (long k = 1; k < sampler->n; k++) {
        double first = sampler->seconds[0];
        if (fabs(sampler->seconds[k] - first) > sampler->same * first) {
            return false;
        }
    }
    return true;
}

long iso_sampler_share(const iso_sampler_t *sampler)
{
    long passes = sampler->by_pass ? PASSES : FEW_PASSES;
    return (iso_sampler_goal() + passes - 1) / passes;
}

/** Repetitions of the next pass with --precision. */
static long wanted_for_precision(iso_sampler_t *sampler)
{
    if (sampler->n < options.min_repeats) {
        long rest = options.min_repeats - sampler->n;
        long share = sampler->by_pass ? iso_sampler_share(sampler) : rest;
        return share < rest ? share : rest;
    }
    if (sampler->spent >= options.max_time || precise_enough(sampler)) {
        return 0;
    }
    return sampler->n / (sampler->by_pass ? PASSES : 2) + 1;
}

int iso_sampler_wants(iso_sampler_t *sampler)
{
    iso_heartbeat_beat();
    long wanted;
    if (sampler->extra > 0) {
        long share = iso_sampler_share(sampler);
        wanted = share < sampler->extra ? share : sampler->extra;
        sampler->extra -= wanted;
    } else if (sampler->simulated && !options.repeats_given &&
               sampler->n == 0) {
        wanted = 2;
    } else if (sampler->simulated && !options.repeats_given &&
               known_already(sampler)) {
        wanted = 0;
    } else if (options.repeats > 0) {
        wanted = iso_sampler_share(sampler);
    } else {
        wanted = wanted_for_precision(sampler);
    }
    long room = sampler->capacity - sampler->n;
    return (int)(wanted < room ? wanted : room);
}

void iso_sampler_close_pass(iso_sampler_t *sampler, long from)
{
    long n = sampler->n - from;
    if (n < 1) {
        return;
    }
    ISO_GROW(sampler->passes, sampler->pass_count, sampler->pass_capacity);
    double *t = sampler->seconds + from;
    iso_sort(t, n);
    sampler->passes[sampler->pass_count++] = iso_quantile(t, n, 0.5);
}

/** The 95 % interval of the median, from the repetitions, which are sorted. */
static void enclose_by_repetitions(const iso_sampler_t *sampler,
                                   iso_summary_t *s)
{
    long n = sampler->n;
    double half = 0.98 * sqrt(n); /* 1.96 sigma of Binomial(n, 1/2) */
    long low = (long)floor(0.5 * n - half) - 1;
    long high = (long)ceil(0.5 * n + half);
    s->low = sampler->seconds[n < 6 || low < 0 ? 0 : low];
    s->high = sampler->seconds[n < 6 || high > n - 1 ? n - 1 : high];
}

/** The 95 % interval of the median, from the medians of the passes. */
static void enclose_by_passes(const iso_sampler_t *sampler, iso_summary_t *s)
{
    long n = sampler->pass_count, k = 0;
    double *sorted = ISO_NEW(double, n);
    memcpy(sorted, sampler->passes, n * sizeof(double));
    iso_sort(sorted, n);
    /* Of n passes, k or fewer lie on one side of the median, in 2.5 %. */
    double chance = pow(0.5, n), below = chance;
    while (below + chance * (n - k) / (k + 1) <= 0.025) {
        chance *= (n - k) / (double)(k + 1);
        below += chance;
        k++;
    }
    s->low = fmin(sorted[k], s->median);
    s->high = fmax(sorted[n - 1 - k], s->median);
    free(sorted);
}

iso_summary_t iso_sampler_summary(iso_sampler_t *sampler)
{
    double *t = sampler->seconds;
    long n = sampler->n;
    iso_summary_t s = {.n = n};
    iso_sort(t, n);
    for (long k = 0; k < n; k++) {
        s.mean += t[k] / n;
    }
    for (long k = 0; k < n; k++) {
        s.stddev += (t[k] - s.mean) * (t[k] - s.mean);
    }
    s.stddev = n > 1 ? sqrt(s.stddev / (n - 1)) : 0;
    s.min = t[0];
    s.median = iso_quantile(t, n, 0.5);
    s.p95 = iso_quantile(t, n, 0.95);
    s.max = t[n - 1];

    if (sampler->pass_count >= ISO_FEW_PASSES) {
        enclose_by_passes(sampler, &s);
    } else {
        enclose_by_repetitions(sampler, &s);
    }
    return s;
}

bool iso_sampler_missed(const iso_summary_t *s)
{
    return options.precision > 0 &&
           s->high - s->low > 2 * options.precision * s->median;
}

void iso_sampler_record(const iso_summary_t *s, iso_record_t *record)
{
    ISO_MEMBERS(record, ("n", (long)s->n), ("mean", s->mean),
                ("stddev", s->stddev), ("min", s->min), ("median", s->median),
                ("p95", s->p95), ("max", s->max), ("low", s->low),
                ("high", s->high));
}
