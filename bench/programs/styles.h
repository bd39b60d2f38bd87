/* What the styles of parallel programs share: who they are, buffers,
 * computation in virtual time.
 */
#ifndef STYLES_H
#define STYLES_H

#include <mpi.h>

#define MOST (1 << 22) /* bytes of the buffers */

extern int rank, ranks;
extern char *out, *in;

/* Word k of the arguments as a number. */
double number(char **words, int k);
/* A number in 0 to 1 that is the same everywhere. */
double factor(int seed, int k);
/* Let virtual time pass. */
void compute(double us);
/* Elements of part k if n elements are dealt out to so many parts. */
int part(int n, int of, int k);
/* Rows, then columns, of a grid of all ranks, and its communicators. */
void split_grid(int dims[2], MPI_Comm *row, MPI_Comm *column);

/* Styles; the arguments are explained in styles.c. */
void stencil(char **a);
void wavefront(char **a);
void rowcol(char **a);
void pencils(char **a);
void cg2(char **a);
void summa(char **a);
void subcom3(char **a);
void multigrid(char **a);
void cg(char **a);
void farm(char **a);
void chain(char **a);
void particles(char **a);
void ring(char **a);
void mesh(char **a);
void sandwich(char **a);

#endif
