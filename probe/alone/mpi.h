/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file mpi.h
 * The part of MPI that a synthetic map needs where there is no MPI library: one
 * process, which is rank 0 of 1 and has nobody to send to.
 *
 * Arguments are those of MPI 3.0.
 */
#ifndef ISO_ALONE_MPI_H
#define ISO_ALONE_MPI_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef int MPI_Comm, MPI_Datatype, MPI_Op, MPI_Errhandler, MPI_Info;
typedef void MPI_Status;
typedef void MPI_Comm_errhandler_function(MPI_Comm *, int *, ...);

enum { MPI_SUCCESS, MPI_ERR_OTHER };
enum { MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, MPI_INFO_NULL, MPI_MIN };
enum { MPI_ERRORS_RETURN, MPI_THREAD_MULTIPLE, MPI_MAX_INFO_VAL };
enum { MPI_BYTE = 1, MPI_CHAR = 1, MPI_INT = sizeof(int) }; /* their sizes */
enum { MPI_MAX_ERROR_STRING = 32, MPI_MAX_LIBRARY_VERSION_STRING = 32 };
enum { MPI_MAX_PROCESSOR_NAME = 256 };
#define MPI_STATUS_IGNORE NULL

#define ISO_ALONE(result, name, ...)                                           \
    static inline int MPI_##name(__VA_ARGS__)                                  \
    {                                                                          \
        return result;                                                         \
    }

ISO_ALONE(MPI_SUCCESS, Init, int *argc, char ***argv)
ISO_ALONE(MPI_SUCCESS, Finalize, void)
ISO_ALONE(MPI_SUCCESS, Comm_free, MPI_Comm *comm)
ISO_ALONE(MPI_SUCCESS, Comm_set_errhandler, MPI_Comm comm, MPI_Errhandler what)
ISO_ALONE(MPI_SUCCESS, Errhandler_free, MPI_Errhandler *handler)
ISO_ALONE(MPI_SUCCESS, Info_free, MPI_Info *info)
ISO_ALONE(*rank = 0, Comm_rank, MPI_Comm comm, int *rank)
ISO_ALONE(!(*size = 1), Comm_size, MPI_Comm comm, int *size)
ISO_ALONE(*copy = 0, Comm_dup, MPI_Comm comm, MPI_Comm *copy)
ISO_ALONE(*node = 0, Comm_split_type, MPI_Comm comm, int type, int key,
          MPI_Info info, MPI_Comm *node)
ISO_ALONE(*handler = 0, Comm_create_errhandler,
          MPI_Comm_errhandler_function *function, MPI_Errhandler *handler)
ISO_ALONE(*info = 0, Comm_get_info, MPI_Comm comm, MPI_Info *info)
ISO_ALONE(*given = 0, Info_get, MPI_Info info, const char *key, int length,
          char *value, int *given)
ISO_ALONE(*minor = *major = 0, Get_version, int *major, int *minor)
ISO_ALONE(0 * (*level = wanted), Init_thread, int *argc, char ***argv,
          int wanted, int *level)
ISO_ALONE(0 * (*size = type), Type_size, MPI_Datatype type, int *size)
ISO_ALONE(0 * (*length = sprintf(text, "no MPI")), Get_library_version,
          char *text, int *length)
ISO_ALONE(0 * (*length = sprintf(text, "there is one rank")), Error_string,
          int code, char *text, int *length)
ISO_ALONE(MPI_ERR_OTHER, Send, const void *data, int count, MPI_Datatype type,
          int to, int tag, MPI_Comm comm)
ISO_ALONE(MPI_ERR_OTHER, Recv, void *data, int count, MPI_Datatype type,
          int from, int tag, MPI_Comm comm, MPI_Status *status)
ISO_ALONE(MPI_ERR_OTHER, Sendrecv, const void *data, int count,
          MPI_Datatype type, int to, int tag, void *received, int most,
          MPI_Datatype its_type, int from, int its_tag, MPI_Comm comm,
          MPI_Status *status)
ISO_ALONE(MPI_ERR_OTHER, Reduce_local, const void *data, void *sum, int count,
          MPI_Datatype type, MPI_Op op)

static inline int MPI_Abort(MPI_Comm comm, int code)
{
    exit(code);
}

static inline int MPI_Get_processor_name(char *name, int *length)
{
    name[MPI_MAX_PROCESSOR_NAME - 1] = '\0';
    gethostname(name, MPI_MAX_PROCESSOR_NAME - 1);
    *length = (int)strlen(name);
    return MPI_SUCCESS;
}

static inline double MPI_Wtime(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline double MPI_Wtick(void)
{
    return 1e-9;
}

#endif
