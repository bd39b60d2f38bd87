"""The numbers that decide how a program is described and predicted: unit, meaning and source."""

# ---- The structure of a recording ----------------------------------------------------------------

UNEVEN_BLOCKS = 2.0
"""By what blocks of one collective may differ: those of n and of n + 1 cells do at most by that."""

# ---- What phases send, on any number of ranks ----------------------------------------------------

MOST_GROWTH = 1.35
"""By what the neighbours of a rank may become more when the ranks double."""

DOUBTFUL = 0.2
"""Part by which a prediction may be off where a recording is not exact, as with sizes that depend
on the data."""

LIKELY_DIMENSIONS = 3
"""Of a grid. On up to 16 ranks, partners in a butterfly are also neighbours in a grid of four."""

# ---- Computation of a phase ----------------------------------------------------------------------

NEGLIGIBLE = 0.005
"""Share of the run time, or of the computation at one number of ranks, that follows no rule."""

MIN_UNRULED_SHARE = 0.02
"""Share of the run time in computation that may follow no rule: intervals are so much wider."""

UNEVEN = 1.4
"""By what the slowest rank may take longer than the mean, more at one number of ranks than at
others, to be the same ranks that take longer."""

REST = 1e-4
"""Part of the computation of the slowest rank that is written for others that compute nothing."""

FACTORS = 64
"""Factors of ranks that are written down."""

# ---- Which phase time belongs to -----------------------------------------------------------------

MIN_PHASE_COMPUTATION = 0.02
"""Share of the mean computation of a phase below which it is put to that of the next one."""

MIN_EXCHANGE_SHARE = 0.05
"""Share of what is computed within an exchange below which nothing is computed before it."""

# ---- Functions of the number of ranks ------------------------------------------------------------

MAX_COUNT_ERROR = 0.005
"""Relative standard error of values that are not drawn: of sizes and blocks in whole numbers."""

MAX_FUNCTION_ERROR = 0.1
"""Largest relative error of a function that describes values; `MAX_MEAN_ERRORS` times as much of
one that describes what depends on the data."""

UNLIKELY = 0.05
"""Prior weight of a term that nothing else in the program speaks for: of a power of p, of work that
becomes less, of a size that falls and then grows; twice, of some sides only of a grid, except for
messages across them."""

MIN_WRITTEN_WEIGHT = 0.1
"""Weight from which on a function is part of the mean that is written."""

# ---- Small phases --------------------------------------------------------------------------------

MAX_LEFT_OUT_SHARE = 0.01
"""Share of the run time below which parts may be left out: twice as much is less than the 3 % by
which a description may miss the time that was recorded."""

# ---- Places of a program -------------------------------------------------------------------------

MOST_OMITTED = 0.001
"""Share of the run time that a description may omit."""

# ---- Time between two calls ----------------------------------------------------------------------

MIN_GAPS = 20
"""Fewer gaps than these say nothing of a distribution."""

MAX_CONSTANT_RATIO = 1.25
"""Where the largest gap is not this many times the smallest one, they are a constant: a tenth of a
decade is as wide."""

STEADY = 0.05
"""Standard deviation, relative, below which gaps are a constant."""

EQUAL_MEANS = 0.01
"""Ranks whose computation or gaps differ by less, relative, are alike."""

VARIES = 0.02
"""Visits that differ by less, relative, have no schedule."""

MAX_MEAN_ERRORS = 3.0
"""Standard errors by which a mean may be off by chance."""

MAX_DISTRIBUTION_DISTANCE = 0.04
"""Largest distance of the distribution functions of what was seen and what is written."""

# ---- Simulation by phases ------------------------------------------------------------------------

PHASE_OVERLAP = 0.2
"""Part of the communication by which a simulation by phases may be short: messages of one phase
delay those of the phase before, which the ranks have left at different times."""

FEW_OF_MANY = 15
"""Iterations that are simulated at least of more ranks than `LARGE`."""

# ---- Simulation of iterations --------------------------------------------------------------------

MIN_SIMULATED_ITERATIONS = 24
"""Iterations that are simulated at least, for a prediction."""

MAX_ITERATION_ERROR = 0.001
"""An iteration's time is known well enough at this relative standard error."""

# ---- Times of operations -------------------------------------------------------------------------

TWO_STEPS = 1.5
"""Less than this times what two members take is one step for all: nobody passes data on."""

MAX_EARLY_SHARE = 0.1
"""Who leaves a reduce within this part of its time has not waited for data of others."""

# ---- Levels of a machine -------------------------------------------------------------------------

FURTHER = 3.0
"""Latency of a further level of switches against the one before it, at most."""

# ---- Times of messages ---------------------------------------------------------------------------

BOTH = 1.05
"""Two directions that take less than this times one do not disturb each other."""

# ---- Programs on more ranks ----------------------------------------------------------------------

MIN_DESCRIPTIONS = 2
"""Numbers of ranks of which a description is generalized."""

MIN_SCALING_WIDTH = 0.07
"""Half width for a step in the number of ranks, 95 %, if what was held out is off by nothing."""

CLOSES = 0.03
"""Part of the run time of a recording by which its description may be off."""

# ---- Collectives on several levels ---------------------------------------------------------------

MAX_ROUND_LATENCIES = 1.5
"""Latencies in the time of an operation, below which it has one round: between one and two."""
