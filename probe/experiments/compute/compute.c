/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file compute.c
 * Times an arithmetic operation (t_op) of the kernels of a Jacobi iteration
 * (kernels.h), over the size of the block: in cache an operation is faster
 * than in memory.
 *
 * Ranks share caches and memory. So it is measured twice, in turns: on rank 0
 * alone, while the others sleep, and on all ranks at once:
 *
 *     the kernel for 5 ms, untimed
 *     for each sample:
 *         all ranks at once: MPI_Barrier
 *         start = now
 *         the kernel, as often as it takes for 65,536 operations
 *         time = now - start
 *
 * The time is that of the slowest rank. A rank that is done polls in the next
 * barrier, as it would in the communication of an iteration. The block is the
 * same in all samples: it is in the caches as far as it fits there, as that of
 * an iteration is. Kernels are called through a pointer that the compiler has
 * to read each time, so that it can neither leave out nor merge calls.
 *
 * In a simulator an operation takes the time that follows from the speed in
 * the platform file, and a warning says so.
 */
#include "base/check.h"
#include "base/words.h"
#include "experiments/compute/kernels.h"
#include "sampling/sampler.h"
#include "sampling/sweep.h"
#include "sampling/time_limit.h"

#include <math.h>

enum {
    DOUBLE = sizeof(double),
    PAGE = 4096,
    MAX_SUBJECTS = 2 * ISO_KERNELS,
    OPERATIONS = 1 << 16, /* of a sample, at least */
#ifdef SMPI_HELPERS_H
    COMPUTES = 0, /* built for SimGrid */
#else
    COMPUTES = 1,
#endif
};

/** Seconds before the samples of a pass. */
static const double WARM_UP = 5e-3;

static struct {
    iso_sizes_t sizes;
    const char *names;
    long length;
} options;

static const iso_option_t own_options[] = {
    {"op", ISO_OPTION_TEXT, "OP,...", "dot,axpy",
     "operations: dot (rows of the block times a vector), axpy (weighted sum "
     "of its columns)",
     &options.names},
    {"bytes", ISO_OPTION_SWEEP, "SIZES", "4KiB:64MiB:x4",
     "block of each rank: 64,1KiB (list), 0:1KiB:32 (step), 1:1MiB:x4 "
     "(factor), auto (more where the curve bends)",
     &options.sizes},
    {"length", ISO_OPTION_COUNT | ISO_EXPERT, "N", NULL,
     "elements in a row or column of the block (default: as square as "
     "possible)",
     &options.length},
    {0},
};

static const iso_option_t *const all_options[] = {
    own_options, iso_sweep_options, iso_time_limit_options, iso_sampler_options,
    NULL};

static const iso_kernel_t *named[ISO_KERNELS]; /* as --op says */
static int named_count;

/* --- the options --------------------------------------------------------- */

/** The kernel of a name of @a length characters; NULL: none. */
static const iso_kernel_t *find_kernel(const char *word, size_t length)
{
    for (int k = 0; k < ISO_KERNELS; k++) {
        if (iso_word_is(word, length, iso_kernels[k].name)) {
            return &iso_kernels[k];
        }
    }
    return NULL;
}

/** Read --op. @return 0, or -1 with an error text */
static int parse_names(char *error)
{
    const char *rest = options.names, *word;
    size_t length;
    while ((word = iso_words_next(&rest, &length))) {
        const iso_kernel_t *kernel = find_kernel(word, length);
        bool twice = false;
        for (int k = 0; k < named_count; k++) {
            twice = twice || named[k] == kernel;
        }
        if (kernel == NULL || twice) {
            return ISO_REFUSE(error,
                              "--op: '%.*s' is %s (give dot, axpy or both)",
                              (int)(length < 40 ? length : 40), word,
                              twice ? "named twice" : "none");
        }
        named[named_count++] = kernel;
    }
    return 0;
}

static int check(char *error)
{
    for (int k = 0; k < options.sizes.count; k++) {
        long long bytes = options.sizes.bytes[k];
        if (bytes == 0 || bytes % DOUBLE != 0) {
            return ISO_REFUSE(
                error,
                "--bytes: %lld is not a multiple of 8 (blocks hold doubles)",
                bytes);
        }
    }
    return parse_names(error) ? -1 : iso_sweep_check(error);
}

/** Elements of a line of a block of @a elements. */
static size_t line_length(size_t elements)
{
    return options.length > 0 ? (size_t)options.length
                              : (size_t)ceil(sqrt(elements));
}

/** Elements of the longer one of the two vectors that a block needs. */
static size_t vector_length(size_t elements)
{
    size_t length = line_length(elements);
    size_t lines = (elements + length - 1) / length;
    return length > lines ? length : lines;
}

static double memory(int ranks)
{
    size_t elements = (size_t)iso_sizes_largest(&options.sizes) / DOUBLE;
    return COMPUTES * DOUBLE * (elements + 2.0 * vector_length(elements));
}

/* --- kernels ---------------------------------------------------- */

struct state {
    const iso_context_t *ctx;
    double *a, *in, *out;
    struct subject {
        const iso_kernel_t *kernel;
        bool all; /**< all ranks at once, not rank 0 alone */
    } subjects[MAX_SUBJECTS];
    int count;
};

static iso_block_t block_of(const struct state *state, long long bytes)
{
    size_t elements = (size_t)bytes / DOUBLE;
    return (iso_block_t){state->a, elements, line_length(elements), state->in,
                         state->out};
}

/** Kernel calls of a sample, so that the cost of the clock is negligible. */
static long long rounds(const iso_block_t *block)
{
    return (long long)ceil(OPERATIONS / iso_block_operations(block));
}

/** Call a kernel @a times times. */
static inline void work(const iso_kernel_t *kernel, const iso_block_t *block,
                        long long times)
{
#ifdef SMPI_HELPERS_H
    smpi_execute_flops(times * iso_block_operations(block));
#else
    void (*const volatile *call)(const iso_block_t *) = &kernel->work;
    for (long long k = 0; k < times; k++) {
        (*call)(block);
    }
#endif
}

/** Warm up: after a sleep the processor is slow and the caches are cold. */
static void warm_up(const struct state *state, const iso_kernel_t *kernel,
                    const iso_block_t *block)
{
    double start = iso_now();
    while (!state->ctx->clock.simulated && iso_now() - start < WARM_UP) {
        work(kernel, block, rounds(block));
    }
}

static void perform(void *self, const iso_task_t *task, double *seconds)
{
    const struct state *state = self;
    const struct subject *subject = &state->subjects[task->subject];
    iso_block_t block = block_of(state, task->bytes);
    long long times = task->batch * rounds(&block);
    warm_up(state, subject->kernel, &block);
    for (long long k = 0; k < task->samples; k++) {
        if (subject->all) {
            MPI_Barrier(state->ctx->comm);
        }
        double start = iso_now();
        work(subject->kernel, &block, times);
        seconds[k] = (iso_now() - start) / times;
    }
}

static bool takes_part(void *self, int subject, int rank)
{
    const struct state *state = self;
    return rank == 0 || state->subjects[subject].all;
}

static void record(void *self, const iso_task_t *task, const double *times,
                   int reporters, long sample)
{
    const struct state *state = self;
    iso_record_t *out = state->ctx->record;
    iso_block_t block = block_of(state, task->bytes);
    ISO_MEMBERS(out, ("op", state->subjects[task->subject].kernel->name),
                ("p", reporters),
                ("operations", (long)iso_block_operations(&block)));
    iso_record_doubles(out, "times", times, reporters);
}

/* --- the run ------------------------------------------------------------- */

/**
 * Values that neither overflow nor become denormal in sums. Arrays are
 * page-aligned: a load at the same page offset as a recent store waits for it
 * (4K aliasing), which can be nearly half of the time of axpy. Alignment makes
 * this reproducible.
 */
static double *filled(size_t count, double scale)
{
    size_t needed = COMPUTES ? count : 0;
    size_t pages = (needed * DOUBLE + PAGE - 1) / PAGE + 1;
    double *values = aligned_alloc(PAGE, pages * PAGE);
    if (values == NULL) {
        ISO_FAIL("no memory for a block of %zu bytes", needed * DOUBLE);
    }
    for (size_t k = 0; k < needed; k++) {
        values[k] = scale * (1 + (double)(k % 7)) / 8;
    }
    return values;
}

static iso_outcome_t run(iso_context_t *ctx)
{
    struct state state = {.ctx = ctx};
    size_t elements = (size_t)iso_sizes_largest(&options.sizes) / DOUBLE;
    size_t vector = vector_length(elements);
    for (int k = 0; k < named_count; k++) {
        for (int all = 0; all <= (ctx->size > 1); all++) {
            state.subjects[state.count++] = (struct subject){named[k], all > 0};
        }
    }
    state.a = filled(elements, 1);
    state.in = filled(vector, 1e-3);
    state.out = filled(vector, 0);
    if (ctx->rank == 0 && ctx->clock.simulated) {
        iso_record_warning(ctx->record, "simulated-computation",
                           "simulated: times follow from the speed of the "
                           "platform file; caches are not modelled");
    }
    iso_sweep_t sweep = {
        .ctx = ctx,
        .self = &state,
        .subjects = state.count,
        .sizes = &options.sizes,
        .quantum = DOUBLE,
        .takes_part = takes_part,
        .perform = perform,
        .record = record,
    };
    iso_outcome_t outcome = iso_sweep_run(&sweep);
    free(state.out);
    free(state.in);
    free(state.a);
    return outcome;
}

static const char *const by[] = {"op", "p", NULL};

const iso_experiment_t iso_experiment_compute = {
    .name = "compute",
    .summary = "time of an arithmetic operation (t_op), by size of the block",
    .kind = "sweep",
    .by = by,
    .options = all_options,
    .min_ranks = 1,
    .check = check,
    .resolve = iso_sampler_resolve,
    .memory = memory,
    .quantity_text = "computing with a block, slowest rank",
    .run = run,
};
