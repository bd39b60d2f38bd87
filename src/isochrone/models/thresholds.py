"""The numbers that decide which model is fitted, and how far it is trusted, with their sources."""

# ---- Starts of a job -----------------------------------------------------------------------------

MEDIAN_DEGREES = 10
"""Degrees of freedom below which a median deviation says less than a sum of squares."""

# ---- Quality of the data -------------------------------------------------------------------------

SHORT_MESSAGE = 4096

MAX_SHORT_SECONDS = 0.02

MIN_SHORT_SECONDS = 1e-9

MAX_SECONDS_PER_BYTE = 1e-6
"""Bytes of a short message, the longest and shortest plausible time of one, and seconds a byte."""

MAX_CHANCE_ERRORS = 3.0
"""Errors of so many standard errors of a median may be due to it: of normal values, 99.7 % are
nearer (the three-sigma rule: Pukelsheim 1994, *The American Statistician* 48, 88)."""

MIN_VALUES_RATIO = 1.05
"""Values of a column whose times differ by less than a twentieth may well be taken together."""

MAX_MODES_CHANCE = 0.0005
"""Chance below which repetitions that look like two groups are two (a test of the largest gap)."""

MAX_FACTOR_VALUES = 50
"""A column of more values than this, at the most, is no factor but a number of the row."""

FALSE_ALARMS = 0.002
"""Chance below which so many points with so unlikely gaps are no chance."""

MAX_DISTURBED_SHARE = 0.1
"""Part of the repetitions that are slow by a disturbance and make no second group."""

MIN_GROUP_RATIO = 1.1
"""Groups that are nearer than this do not matter beside what a formula misses."""

MIN_GROUP_REPETITIONS = 3
"""Fewest repetitions of a group; a fifth of all if that is more."""

TICKS = 2.5
"""A gap of fewer steps of the clock is none."""

# ---- Growth --------------------------------------------------------------------------------------

MAX_FALL = 0.001
"""Part of a time by which a formula may fall as ranks or bytes grow."""

UNKNOWN_NOISE = 0.03
"""Relative noise of a time that was measured once."""

# ---- Segments ------------------------------------------------------------------------------------

MAX_CUT_VARIABLES = 2
"""Variables along which one segment is cut."""

MIN_FORMULA_ERROR = 0.01
"""No formula is better than a per cent on a real machine: finer segments are not worth reading."""

# ---- Choice of a formula -------------------------------------------------------------------------

MIN_LEFT_VALUES = 2
"""Values of a variable of which none can be left out: one alone determines no line."""

ABOUT_THE_SAME = 2.0
"""Errors that are larger by this factor are about the same."""

FOREIGN = 1.5
"""Coefficients that a family may have more if it was made for the operation."""

JUDGED_FORMULAS = 12
"""Formulas that are judged by what they predict; which, says a quick look at how they fit."""

PLAUSIBLE = 0.01
"""Weight of a rival below which it is not listed."""

SPARE_POINTS = 2
"""Points beyond the coefficients: without any one of them, there still is one to judge the rest."""

# ---- Families together ---------------------------------------------------------------------------

MAX_CHOICE_POINTS = 400
"""Points that families and segments are chosen by; of more, as many that are spread evenly."""

HOPELESS = 0.5
"""Held-out error from which a formula describes nothing."""

MIN_LAUNCHES_KNOWN = 3
"""Starts of which something can be said."""

# ---- Formulas for all sizes ----------------------------------------------------------------------

MUCH_WORSE = 2.0

WELL = 0.1
"""A formula for all message sizes may be off by so many times what formulas for each size are off
by, and in any case by so much."""

# ---- Intervals -----------------------------------------------------------------------------------

MIN_FORMULA_SPREAD = 0.001
"""Relative standard deviation that no machine stays below, nor any formula."""

# ---- Backtests -----------------------------------------------------------------------------------

MIN_FIT_VALUES = 3
"""Values of a variable that a formula of it needs."""

# ---- Measured neighbours -------------------------------------------------------------------------

DENSER = 0.25
"""What is left out is off the line by four times as much as what lies between two measured values:
the error of a line grows with the square of their distance. A formula that is off by less than a
line between the measured values is right."""

MIN_MACHINE_ERROR = 0.002
"""No machine repeats itself better, relative: a formula that is off by less is right, and no two
formulas are distinguished."""

INSIDE_LEAST = 0.35

BEYOND = 1.3
"""Half widths of intervals, in log time: the least between the data, and that of twice and four
times their largest number of ranks; beyond, it grows with the square root of the doublings. 95 % of
measured times are no further from what is predicted, both at twice and at four times the ranks
(`bench/field_models.py`): most of these errors are of another algorithm or another part of the
machine, which no backtest sees."""

MAX_RIGHT_ERRORS = 2.0
"""A formula that is off by no more than so many times the noise of a measured time is right."""

BLUNT = 0.05
"""Error of a backtest, in log time, below which what was tried is right beyond the data: it is not
averaged with others, and a formula that is right within them, too, needs no interval of other
machines."""

SLOPE_SIZES = 2
"""The slope of a size is the median with those of so many sizes on either side: it has noise."""

MAX_SLOPE = 2.0
"""Of log t in log p: ranks of which each sends to each other send p² messages. It is steeper where
ranks began to share processors, which does not go on."""

TWICE = 0.7
"""Log time by which the interval of a formula that is right may leave the measured neighbours:
between two powers of two, an algorithm for these may not be used, and the time be twice as long."""

OTHER_UNIT = 100.0
"""Factor between the times of one number of ranks and the line between its neighbours, from which
they are in another unit: units are a thousand apart."""

MIN_RANK_COUNTS = 2
"""Numbers of ranks between which there is a line."""

# ---- Doubts --------------------------------------------------------------------------------------

TESTED = 8
"""How far beyond the data, as a factor of the ranks, extrapolation was tested on other machines."""

# ---- Explanation ---------------------------------------------------------------------------------

MAX_RETRIED_VALUES = 24
"""Measured values of one variable that are tried again with other values of the rest."""

ASKED_BEYOND = 2.0
"""How far beyond the data is looked, of the largest that was measured."""

MIN_GAP_RATIO = 1.3
"""Ratio of its ends below which a gap between segments is not measured further."""

QUESTION_POINTS = 2
"""Points of one question, such as a gap between two segments."""

DECISIVE_DIFFERENCE = 1.0
"""Difference from which a measurement decides, of what the two times together may be off by."""

# ---- Deviations ----------------------------------------------------------------------------------

NOISY = 3.0
"""Deviations of fewer times the noise are due to it."""
