/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file sampler.h
 * Stopping rule of repetitions, and their summary.
 *
 * Either a fixed count (--repeats), or until the 95 % interval of the median
 * is narrow enough (--precision), within --min-repeats, --max-repeats and
 * --max-time. Times are seconds.
 *
 * Repetitions are taken in passes. Those of one pass follow each other closely
 * and are slow together when the machine is busy, so they do not show the
 * spread between passes. With enough passes the interval of the median is
 * therefore computed from medians of passes, not from repetitions.
 *
 * In a simulator equal operations take equal times: there two repetitions that
 * agree are enough, unless --repeats was given.
 */
#pragma once

#include "runfile/record.h"

/** Fewer passes cannot enclose a median at 95 %. */
enum { ISO_FEW_PASSES = 6 };

/** How often a warm-up is repeated in which the clock was set back. */
enum { ISO_MAX_WARMUPS = 10 };

/** Summary of n repetitions. Times in seconds. */
typedef struct {
    double n;
    double mean, stddev; /**< stddev of the sample, n - 1 in the denominator */
    double min, median, p95, max;
    double low, high; /**< 95 % interval of the median, from order statistics:
                           J.-Y. Le Boudec, Performance Evaluation of Computer
                           and Communication Systems, 2010, Theorem 2.1, of the
                           medians of the passes if there are ISO_FEW_PASSES;
                           else of the repetitions, with the normal
                           approximation; below 6 of them it is min and max,
                           which cover less */
} iso_summary_t;

/** The repetitions of one point, for example one pair at one message size. */
typedef struct {
    double *seconds; /**< n repetitions so far, room for capacity */
    long n, capacity;
    double *passes; /**< medians of the passes that were closed */
    long pass_count, pass_capacity;
    bool by_pass;   /**< require enough passes for an interval of passes; false
                       unless set after init */
    long extra;     /**< repetitions requested by iso_sampler_extend */
    bool simulated; /**< the clock is a simulator's */
    double same;    /**< relative difference below which simulated times are
                         the same; 1e-6 unless set after init */
    double spent;   /**< time spent on this point, seconds, set by the caller */
} iso_sampler_t;

/** The options above, to be listed by every experiment that repeats. */
extern const iso_option_t iso_sampler_options[];

/** Check the options with each other. @return 0, or -1 with an error text. */
int iso_sampler_check(char *error);

/** Settle how often to repeat; what an experiment that does nothing else does
 *  in resolve. After the check, before anything below. */
void iso_sampler_resolve(int ranks);

/** Make room for as many repetitions as the options allow. */
void iso_sampler_init(iso_sampler_t *sampler, bool simulated);
void iso_sampler_reset(iso_sampler_t *sampler);
void iso_sampler_free(iso_sampler_t *sampler);

/** Make room for @a more repetitions beyond what the options allow; they are
 *  wanted in as many passes as the first ones. */
void iso_sampler_extend(iso_sampler_t *sampler, long more);

/** Repetitions that a point has at least when it has enough. */
long iso_sampler_goal(void);

/** Untimed operations before the first repetition; at least 1. */
int iso_sampler_warmup(void);

/**
 * Repetitions to make now; 0 when there are enough.
 *
 * Called once a pass, so that several points can take turns.
 */
int iso_sampler_wants(iso_sampler_t *sampler);

/** Repetitions of one pass. */
long iso_sampler_share(const iso_sampler_t *sampler);

/** End a pass: its repetitions are those from number @a from on. */
void iso_sampler_close_pass(iso_sampler_t *sampler, long from);

/** Summarise. Sorts the repetitions. Needs n >= 1. */
iso_summary_t iso_sampler_summary(iso_sampler_t *sampler);

/** Whether --precision was requested and not reached. */
bool iso_sampler_missed(const iso_summary_t *summary);

/** Write a summary as members of the record that is being written. */
void iso_sampler_record(const iso_summary_t *summary, iso_record_t *record);
