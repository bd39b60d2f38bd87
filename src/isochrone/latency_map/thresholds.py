"""The numbers that decide what a map says: each with its unit, its meaning and its source.

What has no source but experience is pinned by tests: a change by half fails one of them, see
`bench/thresholds.py`. What bounds the effort comes last. Limits of memory, and of the length of a
page, are with the code that keeps them.
"""

# ---- What is slow, and what is enough to say so --------------------------------------------------

MIN_SLOWDOWN = 0.10
"""Part of the time. What adds less is noted, and no verdict; a pair off by less is understood, and
a level whose times scatter by less hides no groups."""

UNDISTURBED = 1 / (1 + MIN_SLOWDOWN)
"""Part of their time that pairs take at most where measuring them alone makes a difference."""

THIRD = 1 / 3
"""Part of the units that may be slow: more are units of another kind."""

FALSE_NAMING_RATE = 0.002
"""Chance that anything healthy of a map is named, with normal noise."""

MIN_PART_ERRORS = 4.0
"""Standard errors by which a part must add time, a unit take longer, or a pair be off: they are
chosen out of many."""

HEAVY_TAIL = 0.01
"""Part of the pairs that may be off all the same: times have heavy tails, and hide no groups."""

MIN_PEERS = 4
"""Of fewer components none is the odd one out, and they say nothing of how their like scatter."""

MIN_MEDIAN_VALUES = 3
"""Fewest values whose median withstands a wrong one."""

MIN_TOGETHER = 3
"""Nodes in one place that are likelier to have one slow way than to be slow each."""

FEW_NODES = 8
"""On fewer nodes it is tried out what would be seen, and no torus is recognised."""

MIN_RANKS_TO_JUDGE = 6
"""With fewer ranks no single pair can be called slow."""

OUTLIER_RATIO = 1.5
"""A pair that takes so many times as long as others is another kind, where few pairs say more."""

MAX_MISSING = 0.2
"""Part of the pairs. If more were not measured, levels and slow parts that do not show prove
nothing."""

# ---- The measured pairs --------------------------------------------------------------------------

READABLE = 1 / 3
"""Part of the pairs that groups can be read out of. Of made-up machines of 60 and 150 nodes in
groups of 10, all groups come out with more than half of the pairs, most with 40 %, pieces of them
with less; below 15 % also groups that do not exist, and slow switches to them."""

MIN_COST = 0.02
"""A rank that differs by less than this part of its times has none, however sure that is."""

# ---- Proposals of groups, by the times -----------------------------------------------------------

BLOCK_COST = 3.0
"""Nats that it takes to write down the time of a block, relative to the noise."""

TIME_ERROR = 0.02
"""Relative error of a single time, before a fit knows better."""

MAX_PAIR_COST = 8.0
"""Nats that a pair costs at most, however far off it is."""

# ---- Proposals of groups, by names ---------------------------------------------------------------

REACH = 16
"""Names that a pair spans at most to say how high the boundaries between them are."""

MIN_BOUNDARY_SIDE = 2
"""Names that a pair spans at most to say that a boundary is known."""

MIN_BOUNDARIES = 0.9
"""Part of the boundaries that must be known: else groups appear that do not exist."""

# ---- The fit of an explanation -------------------------------------------------------------------

OUTLIER_SHARE = 0.05
"""Part of the pairs that may take any time at all, for no reason that could be named."""

STRAY_RANGE = 6.0
"""Range of such a time, in log time: a factor of 400."""

NUMBER_RANGE = 2.0
"""Range of every fitted number, relative to the time of its pairs."""

MIN_SPREAD = 2e-3
"""Relative spread that even a simulator's exact times are credited with."""

# ---- The hierarchy -------------------------------------------------------------------------------

MIN_LEVELS_RATIO = 1.10
"""The farther of two levels is slower by this factor at least; less is of no use to anyone."""

MIN_LEVEL_RATIO = 1.05
"""The same while an explanation is fitted, and for a grouping that the machine has recorded."""

EXCEPTIONS = 0.20
"""Pairs on the wrong side, as a part of the smaller of the two levels; a torus has over 35 %."""

NODE_LEVEL_COST = 6.0
"""Nats that a level costs besides its groups: machines have few. One that joins a single group of
units costs as much again, since a slow group, or a slow way to it, looks the same."""

# ---- Slow parts ----------------------------------------------------------------------------------

RELEVANT = 0.04
"""Part of the usual time that a part adds at least. Nodes of one kind differ by 1 to 3 % for good;
each would be a part, and the search long, but nobody acts on it."""

# ---- Levels of cores -----------------------------------------------------------------------------

FAST_STRAY = 1e-4
"""Part of the pairs that may be *faster* for no reason. Faults only slow: a faster pair is nearly
always a group that is not seen yet."""

USUAL_SCATTER = 0.03
"""Scatter of the effects of one kind, in log time, before the map is seen: the median of 25 real
processors, cores within their levels."""

USUAL_FREEDOM = 4.0
"""Degrees of freedom that this is worth (a moderated variance: Smyth 2004, *Linear models and
empirical Bayes methods*, SAGMB 3, 3)."""

SCATTER_COST = 2.0
"""Nats that the variance component costs: about half the logarithm of the number of effects."""

OUTLIER_COST = 16.0
"""Nats that an effect costs at most, which is an outlier then: which it is, and how large."""

TWO_THIRDS_TO_SIGMA = 1.0337
"""1 / Φ⁻¹(5/6) turns the quantile 2/3 of |x| into the standard deviation of a normal x. Up to a
third of the components may be slow."""

TWO_THIRDS_EFFICIENCY = 0.53
"""Such a spread is as uncertain as a standard deviation from this part of the sample: the variance
of the quantile is p(1-p) / (n f²), with p = 2/3 and f the density of |x| there."""

CORE_LEVEL_COST = 2.0
"""Nats that a level costs besides its groups."""

UNORDERED = 6.0
"""Nats that groups cost which do not follow the numbers of their cores, or have two sizes."""

KINDS = 2
"""Sizes of the groups of a level, at most: hybrid processors have two kinds of cores."""

# ---- Slow cores ----------------------------------------------------------------------------------

CORE_LEAST = 0.24
"""Log time by which a core must exceed its kind (1.27 times): in 98 % of 105 healthy processors no
core is so far off, by its place on the chip."""

PAIR_LEAST = 0.47
"""Log time by which a pair must exceed what is explained (1.6 times): in 95 % of them no pair is so
far off, by protocols of caches that no level and no core explains."""

PAIRS_OFF = 2
"""Pairs of a level that may be named. More are the tail of a wide distribution, and no defects."""

MIN_EFFECT_RATIO = 1.5
"""Ratio of an effect to the next largest, from which the largest is beyond chance: in 99 % of them
no two effects beyond the least are so far apart."""

# ---- Between nodes, and within -------------------------------------------------------------------

MIN_PAIR_COVERAGE = 0.9
"""Part of the pairs of nodes; of fewer, groups of nodes with consecutive names are hypotheses."""

# ---- Tori and meshes -----------------------------------------------------------------------------

MAX_HOP_RATIO = 1.15
"""Times up to this multiple of that of the nearest nodes are of one hop."""

MIN_HOPS = 3
"""Hops of the longest path, at least: with fewer, levels explain the times as well."""

MIN_EXPLAINED_VARIANCE = 0.8
"""Part of the variance of the times that hops must explain."""

# ---- Warnings ------------------------------------------------------------------------------------

MIN_CLOCK_STEP = 0.01
"""Part of the shortest time from which the step of the clock is mentioned: the scatter of few maps
is less."""

MAX_WARNED_NAMES = 8
"""Names, or pairs to measure, in a warning."""

MAX_PAIRS = 20
"""Slow pairs that are listed; more are only counted."""

# ---- The health of a map -------------------------------------------------------------------------

FAR_OFF = 3.0
"""Pairs so many times as long as their level are not the far ends of a healthy torus or ring, whose
longest ways have twice the hops of the middle one. Noise is rarely so large."""

MIN_TORUS_DEVIATION = 2.3
"""So far beyond a healthy torus single pairs may be by noise, but hardly three of them."""

DEVIATING_SHARE = 0.002
"""Part of all pairs that must be so far beyond it, where that is more."""

SLOWER = (1.25, 1.5, 2.0)
"""Ratios by which about eight nodes are made slower in turn, to try out what would be seen."""

# ---- What is measured again ----------------------------------------------------------------------

MAX_SUSPECTED = 64
"""Pairs that are measured again at once; of more, those of the worst parts."""

SAMPLE = 8
"""Pairs of one part that are measured again, as their median is no accident; and healthy pairs
measured with them, at most as many as there are suspects."""

# ---- Pairs to measure next -----------------------------------------------------------------------

MIN_SUSPECT_PAIRS = 2
"""Slow pairs with healthy nodes that make a node a suspect; a single one may be a slow link."""

# ---- Confirmation --------------------------------------------------------------------------------

MAX_STARTS = 4
"""Starts of the probe, at most; a healthy machine needs none, a slow one usually one."""

# ---- Effort: half as much again, or less, changes no reading ------------------------------------

DENDROGRAM_CUTS = 6
"""Cuts of a dendrogram, or of boundaries between names, that are tried, at the largest gaps."""

UPPER_LEVELS = 2
"""Levels of groups of groups, at most."""

FOLLOWED = 2
"""Cuts at the largest gaps of each dendrogram of units that are followed in any case."""

REFERENCES = 96
"""Units that profiles are compared on, where there are more."""

MIN_PARTNERS = 16
"""Partners of a unit that even a draw of pairs keeps: small groups would be lost in it."""

COMPARED_HIERARCHIES = 12
"""Hierarchies looked at, of those proposed for some times."""

COMPARED_PAIRS = 6000
"""Pairs that hierarchies are compared on."""

MOVED = 1500
"""Units of a map of which single ones are moved; more are ranks within nodes, which the machine has
recorded."""

MAX_FIT_STEPS = 12
"""Steps of a fit, at most."""

CONVERGED = 1e-4
"""Numbers that change by less than this part of the largest have been found."""

MIN_GAIN = 1e-6
"""Nats that a step of a search gains at least; less is rounding."""

ESTIMATED_PARTS = 6
"""Parts whose gain is estimated at each step, of those that promise most."""

MAX_PARTS = 40
"""Slow parts of one map, at most."""

QUICK = 8
"""The same of a hierarchy that is only looked at."""

BEAM = 6
"""Hierarchies that are followed, the shortest ones."""

MAX_PATH_NODES = 2048
"""Nodes of which all shortest paths are computed."""

MAX_SET_ASIDE_RANKS = 256
"""Ranks of a map up to which hosts that the times do not show are left aside."""

MAX_FURTHER = 1000
"""Pairs that ``--sample auto`` adds at once, where levels or costs of nodes are not known."""

HEALTHY_CANDIDATES = 64
"""Healthy pairs looked at for each that is wanted."""

CLIP = 3.0
"""Standard errors that a pair speaks for a part at most: one far off is no reason."""

PROMISE = 1.5
"""Least score of a part that is tried."""

MAX_SLOW_DIFFERENCE = 0.5
"""Units whose times differ by more than this part of the larger are not slow alike."""

HEALTHY = 2 / 9
"""The quantile of the pairs of a level that is the middle of the healthy ones where a third of the
units is slow: (2/3)^2 of the pairs are then healthy."""
