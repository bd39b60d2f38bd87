/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file other_calls.c
 * Calls in which ranks wait for each other or for a device, and which are only
 * counted: communicators, windows, files. Without them their time would be
 * taken for computation.
 */
#include "preload/wrapper.h"
#include "recorder/event_args.h"

/** Define a call with parameters of these types. */
#define OTHER(OP, Name, ...)                                                   \
    ISO_WRAPPER int MPI_##Name(ISO_PARAMETERS(__VA_ARGS__))                    \
    {                                                                          \
        iso_call_t call = iso_call_begin();                                    \
        if (iso_call_end(&call, PMPI_##Name(ISO_ARGUMENTS(__VA_ARGS__)))) {    \
            iso_event_other(&call, OP, 0);                                     \
        }                                                                      \
        return iso_call_done(&call);                                           \
    }

#define COMMUNICATOR(...) OTHER(ISO_OP_communicator, __VA_ARGS__)

COMMUNICATOR(Comm_dup, MPI_Comm, MPI_Comm *)
COMMUNICATOR(Comm_dup_with_info, MPI_Comm, MPI_Info, MPI_Comm *)
COMMUNICATOR(Comm_split, MPI_Comm, int, int, MPI_Comm *)
COMMUNICATOR(Comm_split_type, MPI_Comm, int, int, MPI_Info, MPI_Comm *)
COMMUNICATOR(Comm_create, MPI_Comm, MPI_Group, MPI_Comm *)
COMMUNICATOR(Comm_create_group, MPI_Comm, MPI_Group, int, MPI_Comm *)
COMMUNICATOR(Comm_free, MPI_Comm *)
COMMUNICATOR(Comm_disconnect, MPI_Comm *)
COMMUNICATOR(Cart_create, MPI_Comm, int, const int *, const int *, int,
             MPI_Comm *)
COMMUNICATOR(Cart_sub, MPI_Comm, const int *, MPI_Comm *)
COMMUNICATOR(Graph_create, MPI_Comm, int, const int *, const int *, int,
             MPI_Comm *)
COMMUNICATOR(Dist_graph_create, MPI_Comm, int, const int *, const int *,
             const int *, const int *, MPI_Info, int, MPI_Comm *)
COMMUNICATOR(Dist_graph_create_adjacent, MPI_Comm, int, const int *,
             const int *, int, const int *, const int *, MPI_Info, int,
             MPI_Comm *)
COMMUNICATOR(Intercomm_create, MPI_Comm, int, MPI_Comm, int, int, MPI_Comm *)
COMMUNICATOR(Intercomm_merge, MPI_Comm, int, MPI_Comm *)

#define WINDOW(...) OTHER(ISO_OP_window, __VA_ARGS__)

WINDOW(Win_create, void *, MPI_Aint, int, MPI_Info, MPI_Comm, MPI_Win *)
WINDOW(Win_allocate, MPI_Aint, int, MPI_Info, MPI_Comm, void *, MPI_Win *)
WINDOW(Win_allocate_shared, MPI_Aint, int, MPI_Info, MPI_Comm, void *,
       MPI_Win *)
WINDOW(Win_create_dynamic, MPI_Info, MPI_Comm, MPI_Win *)
WINDOW(Win_free, MPI_Win *)
WINDOW(Win_fence, int, MPI_Win)
WINDOW(Win_start, MPI_Group, int, MPI_Win)
WINDOW(Win_complete, MPI_Win)
WINDOW(Win_post, MPI_Group, int, MPI_Win)
WINDOW(Win_wait, MPI_Win)
WINDOW(Win_lock, int, int, int, MPI_Win)
WINDOW(Win_unlock, int, MPI_Win)
WINDOW(Win_lock_all, int, MPI_Win)
WINDOW(Win_unlock_all, MPI_Win)
WINDOW(Win_flush, int, MPI_Win)
WINDOW(Win_flush_all, MPI_Win)
WINDOW(Win_flush_local, int, MPI_Win)
WINDOW(Win_flush_local_all, MPI_Win)
WINDOW(Win_sync, MPI_Win)

OTHER(ISO_OP_accumulate, Fetch_and_op, const void *, void *, MPI_Datatype, int,
      MPI_Aint, MPI_Op, MPI_Win)
#ifdef SMPI_H
#define COMPARED void *
#else
#define COMPARED const void *
#endif
OTHER(ISO_OP_accumulate, Compare_and_swap, const void *, COMPARED, void *,
      MPI_Datatype, int, MPI_Aint, MPI_Win)
OTHER(ISO_OP_accumulate, Get_accumulate, const void *, int, MPI_Datatype,
      void *, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype, MPI_Op,
      MPI_Win)

#if MPI_VERSION >= 4
#define PARTS                                                                  \
    int, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Info, MPI_Request *

OTHER(ISO_OP_partitioned, Psend_init, const void *, PARTS)
OTHER(ISO_OP_partitioned, Precv_init, void *, PARTS)
#endif

#define FILES(...) OTHER(ISO_OP_file, __VA_ARGS__)
#define READ       void *, int, MPI_Datatype, MPI_Status *
#define WRITTEN    const READ

FILES(File_open, MPI_Comm, const char *, int, MPI_Info, MPI_File *)
FILES(File_close, MPI_File *)
FILES(File_sync, MPI_File)
FILES(File_set_view, MPI_File, MPI_Offset, MPI_Datatype, MPI_Datatype,
      const char *, MPI_Info)
FILES(File_read, MPI_File, READ)
FILES(File_read_all, MPI_File, READ)
FILES(File_read_at, MPI_File, MPI_Offset, READ)
FILES(File_read_at_all, MPI_File, MPI_Offset, READ)
FILES(File_write, MPI_File, WRITTEN)
FILES(File_write_all, MPI_File, WRITTEN)
FILES(File_write_at, MPI_File, MPI_Offset, WRITTEN)
FILES(File_write_at_all, MPI_File, MPI_Offset, WRITTEN)
