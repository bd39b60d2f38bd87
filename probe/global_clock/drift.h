/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file drift.h
 * Clock model: a straight line, fitted to offsets between two clocks.
 *
 *     other = own + offset + drift (own - reference)
 *
 * Written around a reference moment, because MPI_Wtime may count from 1970,
 * where a slope times a reading would lose the microseconds. Seconds
 * throughout; drift has no unit (1e-6 is a microsecond a second). Arithmetic
 * only.
 */
#pragma once

/** The offset of two clocks by one comparison. */
typedef struct {
    double own;     /**< reading of the own clock */
    double seconds; /**< other clock minus own clock at that moment */
    double bound;   /**< it is not wrong by more: half a round trip
                         (F. Cristian, Probabilistic clock synchronization,
                         Distributed Computing 3, 1989) */
} iso_offset_t;

/** The line, and how well it is known. */
typedef struct {
    double reference, offset, drift;
    double offset_variance; /**< of offset at the reference moment */
    double drift_variance;
} iso_drift_t;

/**
 * Fit the line to offsets, the newest of which is the last.
 *
 * Least squares, weighted by 1 / s_i^2, with a prior on the drift: normal
 * around 0 with deviation P = 20e-6. With r the weighted mean of own_i, o that
 * of offset_i, and W the sum of the weights w_i,
 *
 *     s_i^2  = bound_i^2 / 3 + (1e-7 age_i)^2
 *     drift  = sum w_i (own_i - r) (offset_i - o)
 *              / (sum w_i (own_i - r)^2 + 1 / P^2)
 *     var(o) = 1 / W,   var(drift) = 1 / (sum w_i (own_i - r)^2 + 1 / P^2)
 *
 * which is the mean and variance of the posterior (C. M. Bishop, Pattern
 * Recognition and Machine Learning, 2006, equations 3.53 and 3.54; as an
 * estimate: ridge regression, A. Hoerl and R. Kennard, Technometrics 12, 1970).
 * With one offset, or with offsets close together, the drift stays near 0;
 * with a long time base the prior no longer matters.
 *
 * bound^2 / 3 is the variance of an error anywhere within the bound. P: two
 * clocks of a frequency tolerance of 15e-6 each (PHI of RFC 5905) differ by
 * that times the square root of 2. 1e-7 age lets old offsets fade: a
 * quartz keeps its frequency to about that over a minute, and lines over
 * minutes are known not to fit (S. Hunold and A. Carpen-Amarie, Reproducible
 * MPI benchmarking is still not as easy as you think, IEEE TPDS 27, 2016).
 *
 * @param count  at least 1
 */
iso_drift_t iso_drift_fit(const iso_offset_t *offsets, int count);

/** Join two lines: own to other, and other to a third. */
iso_drift_t iso_drift_compose(const iso_drift_t *own_to_other,
                              const iso_drift_t *other_to_third);

/** The other clock when the own one shows @a own, and the inverse of it. */
double iso_drift_other(const iso_drift_t *line, double own);
double iso_drift_own(const iso_drift_t *line, double other);

/**
 * Growth of the error: standard deviation of the drift, wander of the quartz
 * included. Seconds a second.
 */
double iso_drift_growth(const iso_drift_t *line);
