"""The numbers that decide what changed: each with its unit, its meaning and its source."""

# ---- Nights of hosts -----------------------------------------------------------------------------

JOINT_NIGHTS = 300
"""Nights that are split together, at most: memory is bounded, and levels are found once."""

# ---- History -------------------------------------------------------------------------------------

MIN_HISTORY_CHANGE = 0.05
"""Threshold: smaller relative changes are not reported."""

MIN_CHANGE_ERRORS = 4.0
"""Standard errors between the segments on both sides of a change point."""

MIN_SEGMENT_RUNS = 3
"""Minimum number of runs of a segment, to distinguish it from a bad night."""

MAX_SEGMENTS = 6
"""Maximum number of segments."""

# ---- Two runs ------------------------------------------------------------------------------------

CHANGE_MARGIN = 0.05
"""Default margin: times that differ by less are the same, and smaller slowdowns not reported."""

LAUNCHES_DIFFER = 1.3
"""Largest ratio observed between single launches of one command."""

FAR_APART = 10.0
"""Ratio between single launches that no launches of one command have: the square of 3.2, the
largest at a point, of 437 points of six published series of launches on clusters and clouds."""

# ---- Effects of hosts ----------------------------------------------------------------------------

MIN_UNITS = 4
"""Of fewer nodes, or hosts that are compared inside, none is the odd one out."""

HUBER = 1.345
"""Tuning constant in standard deviations: 95 % efficiency for normal residuals."""

MAX_EFFECT_STEPS = 30
"""Steps of a fit, at most."""

EFFECTS_CONVERGED = 1e-6
"""Change of the largest effect, in log time, from which on the fit has ended."""

MIN_POINTS = 3
"""Minimum number of points of a curve for an effect of the curve."""

# ---- Gates ---------------------------------------------------------------------------------------

MIN_LAUNCHES = 3
"""Of each side: two launches do not show how much launches vary."""

USUAL_LAUNCHES = 5
"""Launches of each side that are recommended where nothing else is known."""

BLIND = 1.6
"""Largest smallest-detectable ratio at which a comparison may pass: there a point that takes twice
the time is detected in 9 of 10 comparisons of eight points."""

# ---- Baselines -----------------------------------------------------------------------------------

MIN_BASELINE_RUNS = 3
"""Minimum number of earlier runs."""

LATEST = 60
"""Earlier runs that a run is compared with, at most: more hardly say more of the next one, and old
ones less of what is usual now."""

FALSE_ALARM_RATE = 0.03
"""Probability of any false alarm in a run of an unchanged machine, at most."""

JUDGING = 0.9
"""Fraction of `FALSE_ALARM_RATE` for judging the run; the remainder is for removing outliers."""

OUTLIER_RATE = 0.002
"""Probability that a normal run is removed from a quantity as an outlier."""

RUNS_PER_OUTLIER = 5
"""At most one run in this number is removed: fewer do not show which is the outlier."""

MIN_SLOW_POINTS = 2
"""Fewest hosts behind a switch."""

MOST_OF = 0.6
"""Nodes, and fraction of the nodes behind a switch, from which on the switch is blamed."""

# ---- Slower components ---------------------------------------------------------------------------

BEYOND_ALL = 700.0
"""Clamp of log-ratios: with few launches an interval can be meaninglessly wide."""

ALIKE_ELSE = 0.9
"""Part of the points of a component that must have changed alike, for kinds without their own."""

MIN_POINT_ERRORS = 3.0
"""Standard errors from which on a point did not change as its component did."""
