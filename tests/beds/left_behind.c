/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that frees nothing: one object of each kind is left on each rank,
 * and one of each that was freed is not.
 */
#include <mpi.h>
#include <stddef.h>

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)in;
    (void)inout;
    (void)count;
    (void)type;
}

static void ignore(MPI_Comm *comm, int *error, ...)
{
    (void)comm;
    (void)error;
}

static void make(int freed)
{
    static int data[4];
    MPI_Comm comm;
    MPI_Group group;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Info info;
    MPI_Win win;
    MPI_Errhandler handler;
    MPI_Request request, done;
    int keyval, rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &comm);
    MPI_Comm_group(comm, &group);
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Op_create(add, 1, &op);
    MPI_Info_create(&info);
    MPI_Win_create(data, sizeof(data), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Comm_create_errhandler(ignore, &handler);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN,
                           &keyval, NULL);
    MPI_Send_init(data, 1, MPI_INT, 0, 0, comm, &request);
    MPI_Irecv(data, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &done);
    MPI_Send(data + 1, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
    MPI_Wait(&done, MPI_STATUS_IGNORE);
    if (freed) {
        MPI_Request_free(&request);
        MPI_Comm_free_keyval(&keyval);
        MPI_Errhandler_free(&handler);
        MPI_Win_free(&win);
        MPI_Info_free(&info);
        MPI_Op_free(&op);
        MPI_Type_free(&type);
        MPI_Group_free(&group);
        MPI_Comm_free(&comm);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    make(1);
    make(0);
    MPI_Finalize();
    return 0;
}
