/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes an MPI library GPU-aware for the memory of gpu_driver.c: preloaded with
 * it, it gives the library the place of the data.
 */
#include <mpi.h>

void *gpu_driver_data(const void *pointer);

int MPIX_Query_cuda_support(void);
int MPIX_Query_cuda_support(void)
{
    return 1;
}

#define D(pointer) gpu_driver_data(pointer)

#define CALL(name, parameters, ...)                                            \
    int MPI_##name parameters                                                  \
    {                                                                          \
        return PMPI_##name(__VA_ARGS__);                                       \
    }

#define MESSAGE int n, MPI_Datatype t, int r, int g, MPI_Comm c
#define BLOCKS                                                                 \
    const void *s, int n, MPI_Datatype t, void *b, int m, MPI_Datatype u

CALL(Send, (const void *b, MESSAGE), D(b), n, t, r, g, c)
CALL(Recv, (void *b, MESSAGE, MPI_Status *q), D(b), n, t, r, g, c, q)
CALL(Isend, (const void *b, MESSAGE, MPI_Request *q), D(b), n, t, r, g, c, q)
CALL(Irecv, (void *b, MESSAGE, MPI_Request *q), D(b), n, t, r, g, c, q)
CALL(Send_init, (const void *b, MESSAGE, MPI_Request *q), D(b), n, t, r, g, c,
     q)
CALL(Recv_init, (void *b, MESSAGE, MPI_Request *q), D(b), n, t, r, g, c, q)
CALL(Win_create,
     (void *b, MPI_Aint n, int d, MPI_Info i, MPI_Comm c, MPI_Win *w), D(b), n,
     d, i, c, w)
CALL(Put,
     (const void *b, int n, MPI_Datatype t, int r, MPI_Aint a, int m,
      MPI_Datatype u, MPI_Win w),
     D(b), n, t, r, a, m, u, w)
CALL(Get,
     (void *b, int n, MPI_Datatype t, int r, MPI_Aint a, int m, MPI_Datatype u,
      MPI_Win w),
     D(b), n, t, r, a, m, u, w)
CALL(Bcast, (void *b, int n, MPI_Datatype t, int r, MPI_Comm c), D(b), n, t, r,
     c)
CALL(Reduce,
     (const void *s, void *b, int n, MPI_Datatype t, MPI_Op o, int r,
      MPI_Comm c),
     D(s), D(b), n, t, o, r, c)
CALL(Allreduce,
     (const void *s, void *b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
     D(s), D(b), n, t, o, c)
CALL(Scan,
     (const void *s, void *b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
     D(s), D(b), n, t, o, c)
CALL(Reduce_scatter_block,
     (const void *s, void *b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c),
     D(s), D(b), n, t, o, c)
CALL(Gather, (BLOCKS, int r, MPI_Comm c), D(s), n, t, D(b), m, u, r, c)
CALL(Scatter, (BLOCKS, int r, MPI_Comm c), D(s), n, t, D(b), m, u, r, c)
CALL(Allgather, (BLOCKS, MPI_Comm c), D(s), n, t, D(b), m, u, c)
CALL(Alltoall, (BLOCKS, MPI_Comm c), D(s), n, t, D(b), m, u, c)
