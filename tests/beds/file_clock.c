/* Sums the time of each rank in MPI_File_* calls: what a recording has to
   account for. Preloaded; writes the seconds of rank k to $FILE_CLOCK.k. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double total;

#define TIMED(Name, PARAMETERS, ARGUMENTS)                                     \
    int MPI_File_##Name PARAMETERS                                             \
    {                                                                          \
        double begin = PMPI_Wtime();                                           \
        int code = PMPI_File_##Name ARGUMENTS;                                 \
        total += PMPI_Wtime() - begin;                                         \
        return code;                                                           \
    }
#define AT(Name, BUFFER, LAST)                                                 \
    TIMED(Name,                                                                \
          (MPI_File f, MPI_Offset at, BUFFER * b, int n, MPI_Datatype t,       \
           LAST *l),                                                           \
          (f, at, b, n, t, l))
#define HERE(Name, BUFFER, LAST)                                               \
    TIMED(Name, (MPI_File f, BUFFER * b, int n, MPI_Datatype t, LAST *l),      \
          (f, b, n, t, l))
#define BOTH(Which, Read, Write, LAST)                                         \
    Which(Read, void, LAST) Which(Write, const void, LAST)

BOTH(AT, read_at, write_at, MPI_Status)
BOTH(AT, read_at_all, write_at_all, MPI_Status)
BOTH(HERE, read, write, MPI_Status)
BOTH(HERE, read_all, write_all, MPI_Status)
BOTH(HERE, read_shared, write_shared, MPI_Status)
BOTH(HERE, read_ordered, write_ordered, MPI_Status)
BOTH(AT, iread_at, iwrite_at, MPI_Request)
BOTH(HERE, iread_all, iwrite_all, MPI_Request)
TIMED(write_all_begin, (MPI_File f, const void *b, int n, MPI_Datatype t),
      (f, b, n, t))
TIMED(write_all_end, (MPI_File f, const void *b, MPI_Status *s), (f, b, s))
TIMED(open, (MPI_Comm c, const char *p, int m, MPI_Info i, MPI_File *f),
      (c, p, m, i, f))
TIMED(close, (MPI_File * f), (f))
TIMED(sync, (MPI_File f), (f))
TIMED(set_size, (MPI_File f, MPI_Offset n), (f, n))
TIMED(seek, (MPI_File f, MPI_Offset n, int w), (f, n, w))
TIMED(set_view,
      (MPI_File f, MPI_Offset d, MPI_Datatype e, MPI_Datatype t, const char *r,
       MPI_Info i),
      (f, d, e, t, r, i))

int MPI_Finalize(void)
{
    char path[4096];
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof(path), "%s.%d", getenv("FILE_CLOCK"), rank);
    FILE *file = fopen(path, "w");
    if (file) {
        fprintf(file, "%.9f\n", total);
        fclose(file);
    }
    return PMPI_Finalize();
}
