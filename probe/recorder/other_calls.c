/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file other_calls.c
 * Calls in which ranks wait for each other or for a device, and which are only
 * counted: communicators, windows, files. Without them their time would be
 * taken for computation.
 */
#include "loaded/takes_over.h"
#include "recorder/keeping.h"

#define OTHER(OP, Name, PARAMETERS, ARGUMENTS)                                 \
    ISO_TAKES_OVER int MPI_##Name PARAMETERS                                   \
    {                                                                          \
        iso_call_t call = iso_call_begin();                                    \
        if (iso_call_end(&call, PMPI_##Name ARGUMENTS)) {                      \
            iso_keep_other(&call, OP, 0);                                      \
        }                                                                      \
        return iso_call_done(&call);                                           \
    }

#define COMMUNICATOR(...) OTHER(ISO_OP_communicator, __VA_ARGS__)

COMMUNICATOR(Comm_dup, (MPI_Comm comm, MPI_Comm *made), (comm, made))
COMMUNICATOR(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *made),
             (comm, info, made))
COMMUNICATOR(Comm_split, (MPI_Comm comm, int colour, int key, MPI_Comm *made),
             (comm, colour, key, made))
COMMUNICATOR(Comm_split_type,
             (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made),
             (comm, type, key, info, made))
COMMUNICATOR(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *made),
             (comm, group, made))
COMMUNICATOR(Comm_create_group,
             (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made),
             (comm, group, tag, made))
COMMUNICATOR(Comm_free, (MPI_Comm * comm), (comm))
COMMUNICATOR(Comm_disconnect, (MPI_Comm * comm), (comm))
COMMUNICATOR(Cart_create,
             (MPI_Comm comm, int dimensions, const int *shape,
              const int *periodic, int reorder, MPI_Comm *made),
             (comm, dimensions, shape, periodic, reorder, made))
COMMUNICATOR(Cart_sub, (MPI_Comm comm, const int *kept, MPI_Comm *made),
             (comm, kept, made))
COMMUNICATOR(Graph_create,
             (MPI_Comm comm, int nodes, const int *index, const int *edges,
              int reorder, MPI_Comm *made),
             (comm, nodes, index, edges, reorder, made))
COMMUNICATOR(Dist_graph_create,
             (MPI_Comm comm, int count, const int *sources, const int *degrees,
              const int *targets, const int *weights, MPI_Info info,
              int reorder, MPI_Comm *made),
             (comm, count, sources, degrees, targets, weights, info, reorder,
              made))
COMMUNICATOR(Dist_graph_create_adjacent,
             (MPI_Comm comm, int ins, const int *sources,
              const int *source_weights, int outs, const int *targets,
              const int *target_weights, MPI_Info info, int reorder,
              MPI_Comm *made),
             (comm, ins, sources, source_weights, outs, targets, target_weights,
              info, reorder, made))
COMMUNICATOR(Intercomm_create,
             (MPI_Comm local, int leader, MPI_Comm peer, int remote, int tag,
              MPI_Comm *made),
             (local, leader, peer, remote, tag, made))
COMMUNICATOR(Intercomm_merge, (MPI_Comm comm, int high, MPI_Comm *made),
             (comm, high, made))

#define WINDOW(...) OTHER(ISO_OP_window, __VA_ARGS__)

WINDOW(Win_create,
       (void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm,
        MPI_Win *made),
       (base, size, unit, info, comm, made))
WINDOW(Win_allocate,
       (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base,
        MPI_Win *made),
       (size, unit, info, comm, base, made))
WINDOW(Win_allocate_shared,
       (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base,
        MPI_Win *made),
       (size, unit, info, comm, base, made))
WINDOW(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *made),
       (info, comm, made))
WINDOW(Win_free, (MPI_Win * window), (window))
WINDOW(Win_fence, (int assert, MPI_Win window), (assert, window))
WINDOW(Win_start, (MPI_Group group, int assert, MPI_Win window),
       (group, assert, window))
WINDOW(Win_complete, (MPI_Win window), (window))
WINDOW(Win_post, (MPI_Group group, int assert, MPI_Win window),
       (group, assert, window))
WINDOW(Win_wait, (MPI_Win window), (window))
WINDOW(Win_lock, (int type, int rank, int assert, MPI_Win window),
       (type, rank, assert, window))
WINDOW(Win_unlock, (int rank, MPI_Win window), (rank, window))
WINDOW(Win_lock_all, (int assert, MPI_Win window), (assert, window))
WINDOW(Win_unlock_all, (MPI_Win window), (window))
WINDOW(Win_flush, (int rank, MPI_Win window), (rank, window))
WINDOW(Win_flush_all, (MPI_Win window), (window))
WINDOW(Win_flush_local, (int rank, MPI_Win window), (rank, window))
WINDOW(Win_flush_local_all, (MPI_Win window), (window))
WINDOW(Win_sync, (MPI_Win window), (window))

OTHER(ISO_OP_accumulate, Fetch_and_op,
      (const void *from, void *to, MPI_Datatype type, int rank, MPI_Aint at,
       MPI_Op operation, MPI_Win window),
      (from, to, type, rank, at, operation, window))
OTHER(ISO_OP_accumulate, Compare_and_swap,
      (const void *from, const void *compared, void *to, MPI_Datatype type,
       int rank, MPI_Aint at, MPI_Win window),
      (from, compared, to, type, rank, at, window))
OTHER(ISO_OP_accumulate, Get_accumulate,
      (const void *from, int count, MPI_Datatype type, void *to, int to_count,
       MPI_Datatype to_type, int rank, MPI_Aint at, int target_count,
       MPI_Datatype target_type, MPI_Op operation, MPI_Win window),
      (from, count, type, to, to_count, to_type, rank, at, target_count,
       target_type, operation, window))

#define FILES(...) OTHER(ISO_OP_file, __VA_ARGS__)
#define READ    void *buffer, int count, MPI_Datatype type, MPI_Status *status
#define WRITTEN const READ
#define MOVED   buffer, count, type, status

FILES(File_open,
      (MPI_Comm comm, const char *name, int mode, MPI_Info info,
       MPI_File *file),
      (comm, name, mode, info, file))
FILES(File_close, (MPI_File * file), (file))
FILES(File_sync, (MPI_File file), (file))
FILES(File_set_view,
      (MPI_File file, MPI_Offset at, MPI_Datatype type, MPI_Datatype view,
       const char *representation, MPI_Info info),
      (file, at, type, view, representation, info))
FILES(File_read, (MPI_File file, READ), (file, MOVED))
FILES(File_read_all, (MPI_File file, READ), (file, MOVED))
FILES(File_read_at, (MPI_File file, MPI_Offset at, READ), (file, at, MOVED))
FILES(File_read_at_all, (MPI_File file, MPI_Offset at, READ), (file, at, MOVED))
FILES(File_write, (MPI_File file, WRITTEN), (file, MOVED))
FILES(File_write_all, (MPI_File file, WRITTEN), (file, MOVED))
FILES(File_write_at, (MPI_File file, MPI_Offset at, WRITTEN), (file, at, MOVED))
FILES(File_write_at_all, (MPI_File file, MPI_Offset at, WRITTEN),
      (file, at, MOVED))
