/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file jacobi.c
 * The Jacobi iteration of M. Kühnemann, T. Rauber, G. Rünger, Performance
 * Modeling of Two-phase Realizations of Communication Operations, section 4.
 *
 * It solves A x = b by x_i = (b_i - sum over j != i of a_ij x_j) / a_ii, again
 * and again, with a matrix of n rows that is spread over p ranks:
 *
 *     row      a rank has ceil(n/p) rows; it computes as many components of the
 *              new x, and an allgather gives all of them to all
 *     column   a rank has ceil(n/p) columns; it adds them up, each times its
 *              component of x, in a vector d of n; a reduce adds up all d, and
 *              a bcast gives the new x to all
 *
 * where p does not divide n, the last ranks have less. Nothing is timed but
 * the iterations: all ranks start after a barrier, and each takes the time
 * between what it does. Rank 0 prints a line of JSON for each repetition:
 *
 *     {"variant": "row", "n": 1024, "ranks": 4, "grid": "", "iterations": 100,
 *      "repeat": 0, "seconds": ..., "median": ...,
 *      "phases": {"compute": ..., "allgather": ...}}
 *
 * seconds is the time of all iterations on the slowest rank, by their number;
 * median that of the iteration in the middle; a phase what an iteration spends
 * in it, the mean over the ranks, waiting included. With --check two more:
 * "difference" from the iterate of a serial program, and "error" from the
 * solution, which is known; both the largest of all components.
 *
 * With --grid R1xR2 the collective operations are done in two phases, on rows
 * of R2 ranks and on columns of R1 ranks, as in the paper.
 *
 * Built with -DSIMULATED for SimGrid, where computing takes no time, a rank
 * sleeps for --t-op SECONDS times the number of its arithmetic operations.
 */
#define _POSIX_C_SOURCE 200809L
#include "allocate.h"
#include "asked.h"
#include "kernels.h"
#include "serial.h"
#include "system.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_PHASES = 3, WRONG_USE = 2, WRONG_RESULT = 1 };

/** Of the difference from the serial iterate; components are 1 to 7. */
static const double TOLERANCE = 1e-12;

/* --- what a rank has ------------------------------------------------------ */

/** Lines are rows or columns of the matrix without its diagonal. */
struct part {
    int rank, size;
    long block;           /* lines of a rank, ceil(n/p) */
    long first, count;    /* this rank's own */
    double *a;            /* count lines of n elements */
    double *b;            /* right sides: of its rows, or at rank 0 of all */
    double *x;            /* the iterate, block elements of each rank */
    double *mine;         /* row: components computed; column: d, n of them */
    double *sum;          /* column, at rank 0: all d */
    MPI_Comm row, column; /* of the grid of ranks */
};

static long least(long a, long b)
{
    return a < b ? a : b;
}

static void part_create(struct part *part)
{
    long n = asked.n;
    MPI_Comm_rank(MPI_COMM_WORLD, &part->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &part->size);
    part->block = (n + part->size - 1) / part->size;
    part->first = least(part->rank * part->block, n);
    part->count = least(part->block, n - part->first);
    part->a = allocate(part->count * n);
    part->x = allocate(part->block * part->size);
    part->mine = allocate(asked.columns ? n : part->block);
    part->sum = allocate(asked.columns && part->rank == 0 ? n : 0);
    for (long line = 0; line < part->count; line++) {
        for (long k = 0; k < n; k++) {
            long at = part->first + line;
            part->a[line * n + k] =
                asked.columns ? element(n, k, at) : element(n, at, k);
        }
    }
    long from = asked.columns ? 0 : part->first;
    long rows = !asked.columns ? part->count : part->rank == 0 ? n : 0;
    part->b = allocate(rows);
    for (long k = 0; k < rows; k++) {
        part->b[k] = right_side(n, from + k);
    }
    int width = asked.columns_of_grid;
    if (width > 0) {
        MPI_Comm_split(MPI_COMM_WORLD, part->rank / width, part->rank,
                       &part->row);
        MPI_Comm_split(MPI_COMM_WORLD, part->rank % width, part->rank,
                       &part->column);
    }
}

static void part_free(struct part *part)
{
    if (asked.columns_of_grid > 0) {
        MPI_Comm_free(&part->column);
        MPI_Comm_free(&part->row);
    }
    free(part->a);
    free(part->b);
    free(part->x);
    free(part->mine);
    free(part->sum);
}

/* --- computing ------------------------------------------------------------ */

/** In a simulation: let the time pass that so many operations take. */
static void pass_time(double operations)
{
#ifdef SIMULATED
    double seconds = operations * asked.t_op;
    struct timespec delay = {.tv_sec = (time_t)seconds};
    delay.tv_nsec = lround(1e9 * (seconds - (double)delay.tv_sec));
    nanosleep(&delay, NULL);
#else
    (void)operations;
#endif
}

/** New components of the rows of this rank: a scalar product for each. */
static void compute_rows(const struct part *part)
{
    multiply_rows(part->a, part->count, asked.n, part->x, part->mine);
    for (long r = 0; r < part->count; r++) {
        part->mine[r] = (part->b[r] - part->mine[r]) / DIAGONAL;
    }
    pass_time(2.0 * (double)asked.n * (double)part->count);
}

/** What the columns of this rank add to all rows. */
static void compute_columns(const struct part *part)
{
    memset(part->mine, 0, (size_t)asked.n * sizeof(double));
    add_columns(part->a, part->count, asked.n, part->x + part->first,
                part->mine);
    pass_time(2.0 * (double)(asked.n - 1) * (double)part->count);
}

/** At rank 0: the new iterate from all that the columns have added up. */
static void finish_columns(const struct part *part)
{
    for (long k = 0; part->rank == 0 && k < asked.n; k++) {
        part->x[k] = (part->b[k] - part->sum[k]) / DIAGONAL;
    }
}

/* --- communicating -------------------------------------------------------- */

/** Blocks of a row of the grid first, then rows of the grid: they arrive in the
 *  order of ranks. */
static void allgather(const struct part *part)
{
    int block = (int)part->block, width = asked.columns_of_grid;
    if (width == 0) {
        MPI_Allgather(part->mine, block, MPI_DOUBLE, part->x, block, MPI_DOUBLE,
                      MPI_COMM_WORLD);
        return;
    }
    double *mine = part->x + part->rank / width * width * part->block;
    MPI_Allgather(part->mine, block, MPI_DOUBLE, mine, block, MPI_DOUBLE,
                  part->row);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DOUBLE, part->x, width * block,
                  MPI_DOUBLE, part->column);
}

/** To the first rank of each row, and from these to rank 0. */
static void reduce(const struct part *part)
{
    int n = (int)asked.n, width = asked.columns_of_grid;
    if (width == 0) {
        MPI_Reduce(part->mine, part->sum, n, MPI_DOUBLE, MPI_SUM, 0,
                   MPI_COMM_WORLD);
        return;
    }
    if (part->rank % width != 0) {
        MPI_Reduce(part->mine, NULL, n, MPI_DOUBLE, MPI_SUM, 0, part->row);
        return;
    }
    MPI_Reduce(MPI_IN_PLACE, part->mine, n, MPI_DOUBLE, MPI_SUM, 0, part->row);
    MPI_Reduce(part->mine, part->sum, n, MPI_DOUBLE, MPI_SUM, 0, part->column);
}

/** To the first rank of each row, and from these to all. */
static void bcast(const struct part *part)
{
    int n = (int)asked.n, width = asked.columns_of_grid;
    if (width == 0) {
        MPI_Bcast(part->x, n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        return;
    }
    if (part->rank % width == 0) {
        MPI_Bcast(part->x, n, MPI_DOUBLE, 0, part->column);
    }
    MPI_Bcast(part->x, n, MPI_DOUBLE, 0, part->row);
}

/* --- the iteration -------------------------------------------------------- */

static const char *const row_phases[] = {"compute", "allgather", NULL};
static const char *const column_phases[] = {"compute", "reduce", "bcast", NULL};

/** Add the time since @a from to a phase. @return now */
static double passed(double *phase, double from)
{
    double now = MPI_Wtime();
    *phase += now - from;
    return now;
}

/** Iterate as often as asked for.
 *  @param phases  seconds of each, added to
 *  @param ends    moment after each iteration
 *  @return the moment before the first */
static double iterate(const struct part *part, double phases[MAX_PHASES],
                      double *ends)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime(), now = start;
    for (long k = 0; k < asked.iterations && !asked.columns; k++) {
        compute_rows(part);
        now = passed(&phases[0], now);
        allgather(part);
        ends[k] = now = passed(&phases[1], now);
    }
    for (long k = 0; k < asked.iterations && asked.columns; k++) {
        compute_columns(part);
        now = passed(&phases[0], now);
        reduce(part);
        now = passed(&phases[1], now);
        finish_columns(part);
        now = passed(&phases[0], now);
        bcast(part);
        ends[k] = now = passed(&phases[2], now);
    }
    return start;
}

/* --- what is said --------------------------------------------------------- */

/** Check the iterate, of which every rank has one. @return 0: it is right */
static int say_check(const struct part *part)
{
    double *serial = allocate(asked.n), own[2] = {0}, most[2];
    if (part->rank == 0) {
        iterate_serially(asked.n, asked.iterations, serial);
    }
    MPI_Bcast(serial, (int)asked.n, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (long i = 0; i < asked.n; i++) {
        own[0] = fmax(own[0], fabs(part->x[i] - serial[i]));
        own[1] = fmax(own[1], fabs(part->x[i] - solution(i)));
    }
    free(serial);
    MPI_Allreduce(own, most, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (part->rank == 0) {
        printf(", \"difference\": %.3g, \"error\": %.3g", most[0], most[1]);
    }
    return most[0] <= TOLERANCE ? 0 : WRONG_RESULT;
}

static int ascending(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/** Of the iterations, each on its slowest rank; at rank 0. */
static double median_of(double start, const double *ends)
{
    long count = asked.iterations;
    double *own = allocate(count), *slowest = allocate(count);
    for (long k = 0; k < count; k++) {
        own[k] = ends[k] - (k > 0 ? ends[k - 1] : start);
    }
    MPI_Reduce(own, slowest, (int)count, MPI_DOUBLE, MPI_MAX, 0,
               MPI_COMM_WORLD);
    qsort(slowest, (size_t)count, sizeof(double), ascending);
    double median = (slowest[(count - 1) / 2] + slowest[count / 2]) / 2;
    free(slowest);
    free(own);
    return median;
}

/** Say what the iterations were of. */
static void say_asked(int ranks)
{
    char grid[32] = "";
    if (asked.columns_of_grid > 0) {
        snprintf(grid, sizeof(grid), "%dx%d", asked.rows_of_grid,
                 asked.columns_of_grid);
    }
    printf("{\"variant\": \"%s\", \"n\": %ld, \"ranks\": %d, "
           "\"grid\": \"%s\", \"iterations\": %ld",
           asked.columns ? "column" : "row", asked.n, ranks, grid,
           asked.iterations);
}

/** Say what they took; the arguments are those of rank 0. */
static void say_times(const struct part *part, double seconds, double median,
                      const double *phases)
{
    const char *const *names = asked.columns ? column_phases : row_phases;
    double runs = (double)part->size * (double)asked.iterations;
    printf(", \"seconds\": %.9g, \"median\": %.9g, \"phases\": {", seconds,
           median);
    for (int k = 0; names[k]; k++) {
        printf("%s\"%s\": %.9g", k ? ", " : "", names[k], phases[k] / runs);
    }
    printf("}");
}

/** Iterate from x = 0, and say what came of it. @return 0: it is right */
static int repeat(struct part *part, long number)
{
    double phases[MAX_PHASES] = {0}, sums[MAX_PHASES], slowest;
    double *ends = allocate(asked.iterations);
    memset(part->x, 0, (size_t)(part->block * part->size) * sizeof(double));
    double start = iterate(part, phases, ends);
    double seconds =
        (ends[asked.iterations - 1] - start) / (double)asked.iterations;
    MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(phases, sums, MAX_PHASES, MPI_DOUBLE, MPI_SUM, 0,
               MPI_COMM_WORLD);
    double median = median_of(start, ends);
    free(ends);
    if (part->rank == 0) {
        say_asked(part->size);
        printf(", \"repeat\": %ld", number);
        say_times(part, slowest, median, sums);
    }
    int wrong = asked.check ? say_check(part) : 0;
    if (part->rank == 0) {
        puts("}");
        fflush(stdout);
    }
    return wrong;
}

/* --- the program ---------------------------------------------------------- */

/** @return whether the command line makes sense on so many ranks */
static int understood(int argc, char **argv)
{
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int wrong = asked_read(argc, argv);
    long members = (long)asked.rows_of_grid * asked.columns_of_grid;
    if (rank == 0 && wrong) {
        fprintf(stderr, "%s\n", usage);
    } else if (rank == 0 && members > 0 && members != size) {
        fprintf(stderr, "jacobi: --grid %dx%d is of %ld ranks, not of %d\n",
                asked.rows_of_grid, asked.columns_of_grid, members, size);
    }
    return !wrong && (members == 0 || members == size);
}

int main(int argc, char **argv)
{
    int wrong = WRONG_USE;
    MPI_Init(&argc, &argv);
    if (understood(argc, argv)) {
        struct part part = {0};
        part_create(&part);
        wrong = 0;
        for (long k = 0; k < asked.repeats; k++) {
            int found = repeat(&part, k);
            wrong = found ? found : wrong;
        }
        part_free(&part);
    }
    MPI_Finalize();
    return wrong;
}
