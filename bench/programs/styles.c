/* Styles of parallel programs, for SimGrid: computation is virtual time.
 *
 * On grids (grid_styles.c):
 *     styles stencil 3 N STEPS K WEAK US IMBALANCE
 *         3-D (or 2-D) stencil, an allreduce in every K-th step
 *     styles wavefront N STEPS BLOCKS DIRECTIONS US
 *         2-D wavefront from one, two or four corners
 *     styles rowcol N STEPS WEAK US
 *         alltoall in rows, then in columns
 *     styles pencils N STEPS US
 *         transposes of N^3 cells in uneven pencils: alltoallv in rows, then in
 * columns styles cg2 N STEPS US conjugate gradient of a matrix in blocks: sums
 * along rows, transposed exchange styles summa N STEPS US product of matrices:
 * the roots of broadcasts in rows and columns rotate styles subcom3 BYTES STEPS
 * US alltoall along each direction of a 3-D grid styles multigrid N STEPS
 * LEVELS US V-cycles; on each coarser level half of the ranks along each
 * direction go on Others (other_styles.c): styles cg N STEPS DEGREE SEED US
 *         conjugate gradient, irregular neighbours
 *     styles farm TASKS BYTES US SEED
 *         rank 0 hands out tasks to whoever is done
 *     styles chain N STEPS K US
 *         a pipeline, a broadcast in every K-th step
 *     styles particles N STEPS SEED US
 *         particles go to neighbours in a 2-D torus: probe, then receive
 *     styles ring N STEPS US
 *         blocks go round while each rank computes with the one that it has
 *     styles mesh N STEPS DEGREE SEED US
 *         an unstructured mesh: receives from any source, sizes vary by
 * neighbour styles sandwich N STEPS US reduce-scatter, computation, allgather
 *
 * Prints each rank and its seconds. */
#include "styles.h"

#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPEED 1e9 /* operations of a core a second */

int rank, ranks;
char *out, *in;

double number(char **words, int k)
{
    return atof(words[k]);
}

double factor(int seed, int k)
{
    unsigned long x =
        (unsigned long)seed * 2654435761u + (unsigned long)k * 40503u + 12345u;
    for (int round = 0; round < 4; round++)
        x = (x ^ (x >> 15)) * 2246822519u & 0xffffffffu;
    return (double)x / 4294967296.0;
}

void compute(double us)
{
    smpi_execute_flops(us * 1e-6 * SPEED);
}

int part(int n, int of, int k)
{
    return n / of + (k < n % of);
}

void split_grid(int dims[2], MPI_Comm *row, MPI_Comm *column)
{
    dims[0] = dims[1] = 0;
    MPI_Dims_create(ranks, 2, dims);
    MPI_Comm_split(MPI_COMM_WORLD, rank / dims[1], rank, row);
    MPI_Comm_split(MPI_COMM_WORLD, rank % dims[1], rank, column);
}

int main(int argc, char **argv)
{
    struct {
        const char *name;
        void (*run)(char **);
        int words;
    } styles[] = {{"stencil", stencil, 7},
                  {"wavefront", wavefront, 5},
                  {"rowcol", rowcol, 4},
                  {"pencils", pencils, 3},
                  {"cg2", cg2, 3},
                  {"summa", summa, 3},
                  {"subcom3", subcom3, 3},
                  {"multigrid", multigrid, 4},
                  {"cg", cg, 5},
                  {"farm", farm, 4},
                  {"chain", chain, 4},
                  {"particles", particles, 4},
                  {"ring", ring, 3},
                  {"mesh", mesh, 5},
                  {"sandwich", sandwich, 3}};
    int known = (int)(sizeof styles / sizeof *styles), ran = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    out = calloc(MOST, 1), in = calloc(MOST, 1);
    double begin = MPI_Wtime();
    for (int k = 0; k < known; k++)
        if (argc == styles[k].words + 2 && !strcmp(argv[1], styles[k].name)) {
            styles[k].run(argv + 2);
            ran = 1;
        }
    double seconds = MPI_Wtime() - begin;
    MPI_Finalize();
    if (ran)
        printf("%d %.9f\n", rank, seconds);
    free(out), free(in);
    return ran ? 0 : 2;
}
