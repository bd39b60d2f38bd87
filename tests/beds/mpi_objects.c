/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts the MPI objects that a program makes and frees, and says which are
 * left when MPI has ended. To be loaded into programs (LD_PRELOAD) behind the
 * libraries that are examined.
 *
 * Both names of a function, MPI_* and PMPI_*, are taken over, since libraries
 * that are loaded into programs use the second. What an MPI library does for
 * itself does not count. In a file $MPI_OBJECTS.PID:
 *
 *     made 17
 *     left communicator MPI_Comm_dup /path/of/program+0x1234
 */
#define _GNU_SOURCE /* RTLD_NEXT, dladdr */
#include <mpi.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct object {
    const char *kind, *call;
    uintptr_t handle;
    void *from;
    struct object *next;
} object_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static object_t *left;
static long made;

/** Whether a call comes from a library of MPI. */
static bool of_mpi(void *from, Dl_info *who)
{
    static const char *const names[] = {"libmpi", "libopen-", "/mca_",
                                        "libfabric", "libpmix"};
    if (dladdr(from, who) == 0 || who->dli_fname == NULL) {
        return true;
    }
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
        if (strstr(who->dli_fname, names[k])) {
            return true;
        }
    }
    return false;
}

/** A handle is an int or a pointer. */
static uintptr_t number_of(const void *handle, size_t size)
{
    uintptr_t number = 0;
    memcpy(&number, handle, size);
    return number;
}

static void keep(const char *kind, const char *call, uintptr_t handle,
                 void *from)
{
    Dl_info who;
    if (of_mpi(from, &who)) {
        return;
    }
    object_t *one = malloc(sizeof(*one));
    if (one == NULL) {
        abort();
    }
    pthread_mutex_lock(&lock);
    *one = (object_t){kind, call, handle, from, left};
    left = one;
    made++;
    pthread_mutex_unlock(&lock);
}

static void forget(const char *kind, uintptr_t handle, void *from)
{
    Dl_info who;
    if (of_mpi(from, &who)) {
        return;
    }
    pthread_mutex_lock(&lock);
    object_t **at = &left;
    while (*at && ((*at)->handle != handle || strcmp((*at)->kind, kind) != 0)) {
        at = &(*at)->next;
    }
    if (*at) {
        object_t *one = *at;
        *at = one->next;
        free(one);
    }
    pthread_mutex_unlock(&lock);
}

static void report(void)
{
    char name[4096];
    const char *prefix = getenv("MPI_OBJECTS");
    snprintf(name, sizeof(name), "%s.%d", prefix ? prefix : "mpi-objects",
             (int)getpid());
    FILE *file = fopen(name, "w");
    if (file == NULL) {
        perror(name);
        abort();
    }
    fprintf(file, "made %ld\n", made);
    for (const object_t *one = left; one; one = one->next) {
        Dl_info who;
        dladdr(one->from, &who);
        fprintf(file, "left %s %s %s+%#lx\n", one->kind, one->call,
                who.dli_fname,
                (unsigned long)((char *)one->from - (char *)who.dli_fbase));
    }
    fclose(file);
}

/** What is called by others, under both names. */
#define BOTH(NAME, PARAMETERS, ...)                                            \
    int MPI_##NAME PARAMETERS __VA_ARGS__ int PMPI_##NAME PARAMETERS __VA_ARGS__

#define NEXT(NAME, PARAMETERS)                                                 \
    static int(*next) PARAMETERS;                                              \
    void *from = __builtin_return_address(0);                                  \
    if (next == NULL) {                                                        \
        *(void **)&next = dlsym(RTLD_NEXT, "PMPI_" #NAME);                     \
    }                                                                          \
    (void)from;

/** A call that makes *HANDLE, unless that is NONE then. */
#define MAKES(KIND, NONE, HANDLE, NAME, PARAMETERS, ARGUMENTS)                 \
    BOTH(NAME, PARAMETERS, {                                                   \
        NEXT(NAME, PARAMETERS)                                                 \
        int code = next ARGUMENTS;                                             \
        if (code == MPI_SUCCESS && *HANDLE != NONE) {                          \
            keep(KIND, "MPI_" #NAME, number_of(HANDLE, sizeof(*HANDLE)),       \
                 from);                                                        \
        }                                                                      \
        return code;                                                           \
    })

#define FREES(KIND, TYPE, NAME)                                                \
    BOTH(NAME, (TYPE * handle), {                                              \
        NEXT(NAME, (TYPE * handle))                                            \
        uintptr_t number = number_of(handle, sizeof(*handle));                 \
        int code = next(handle);                                               \
        if (code == MPI_SUCCESS) {                                             \
            forget(KIND, number, from);                                        \
        }                                                                      \
        return code;                                                           \
    })

/* clang-format off */
#define COMMUNICATOR(NAME, PARAMETERS, ARGUMENTS) \
    MAKES("communicator", MPI_COMM_NULL, made_comm, NAME, PARAMETERS, ARGUMENTS)
COMMUNICATOR(Comm_dup, (MPI_Comm comm, MPI_Comm *made_comm), (comm, made_comm))
COMMUNICATOR(Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *made_comm),
             (comm, info, made_comm))
COMMUNICATOR(Comm_split, (MPI_Comm comm, int colour, int key, MPI_Comm *made_comm),
             (comm, colour, key, made_comm))
COMMUNICATOR(Comm_split_type,
             (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made_comm),
             (comm, type, key, info, made_comm))
COMMUNICATOR(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *made_comm),
             (comm, group, made_comm))
COMMUNICATOR(Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made_comm),
             (comm, group, tag, made_comm))
COMMUNICATOR(Cart_create,
             (MPI_Comm comm, int dims, const int *sizes, const int *periods, int reorder,
              MPI_Comm *made_comm),
             (comm, dims, sizes, periods, reorder, made_comm))
COMMUNICATOR(Dist_graph_create_adjacent,
             (MPI_Comm comm, int in, const int *sources, const int *of_sources, int out,
              const int *targets, const int *of_targets, MPI_Info info, int reorder,
              MPI_Comm *made_comm),
             (comm, in, sources, of_sources, out, targets, of_targets, info, reorder, made_comm))
FREES("communicator", MPI_Comm, Comm_free)

#define GROUP(NAME, PARAMETERS, ARGUMENTS) \
    MAKES("group", MPI_GROUP_EMPTY, made_group, NAME, PARAMETERS, ARGUMENTS)
GROUP(Comm_group, (MPI_Comm comm, MPI_Group *made_group), (comm, made_group))
GROUP(Comm_remote_group, (MPI_Comm comm, MPI_Group *made_group), (comm, made_group))
GROUP(Win_get_group, (MPI_Win win, MPI_Group *made_group), (win, made_group))
GROUP(Group_incl, (MPI_Group group, int count, const int *ranks, MPI_Group *made_group),
      (group, count, ranks, made_group))
FREES("group", MPI_Group, Group_free)

#define DATATYPE(NAME, PARAMETERS, ARGUMENTS) \
    MAKES("datatype", MPI_DATATYPE_NULL, made_type, NAME, PARAMETERS, ARGUMENTS)
DATATYPE(Type_contiguous, (int count, MPI_Datatype type, MPI_Datatype *made_type),
         (count, type, made_type))
DATATYPE(Type_vector,
         (int count, int block, int stride, MPI_Datatype type, MPI_Datatype *made_type),
         (count, block, stride, type, made_type))
DATATYPE(Type_create_subarray,
         (int dims, const int *sizes, const int *own, const int *starts, int order,
          MPI_Datatype type, MPI_Datatype *made_type),
         (dims, sizes, own, starts, order, type, made_type))
DATATYPE(Type_create_struct,
         (int count, const int *blocks, const MPI_Aint *places, const MPI_Datatype *types,
          MPI_Datatype *made_type),
         (count, blocks, places, types, made_type))
DATATYPE(Type_create_hindexed,
         (int count, const int *blocks, const MPI_Aint *places, MPI_Datatype type,
          MPI_Datatype *made_type),
         (count, blocks, places, type, made_type))
DATATYPE(Type_create_resized,
         (MPI_Datatype type, MPI_Aint lower, MPI_Aint extent, MPI_Datatype *made_type),
         (type, lower, extent, made_type))
DATATYPE(Type_dup, (MPI_Datatype type, MPI_Datatype *made_type), (type, made_type))
FREES("datatype", MPI_Datatype, Type_free)

MAKES("operation", MPI_OP_NULL, op, Op_create,
      (MPI_User_function *function, int commutes, MPI_Op *op), (function, commutes, op))
FREES("operation", MPI_Op, Op_free)

#define INFO(NAME, PARAMETERS, ARGUMENTS) \
    MAKES("info", MPI_INFO_NULL, info, NAME, PARAMETERS, ARGUMENTS)
INFO(Info_create, (MPI_Info *info), (info))
INFO(Info_dup, (MPI_Info other, MPI_Info *info), (other, info))
INFO(File_get_info, (MPI_File file, MPI_Info *info), (file, info))
INFO(Comm_get_info, (MPI_Comm comm, MPI_Info *info), (comm, info))
FREES("info", MPI_Info, Info_free)

MAKES("window", MPI_WIN_NULL, win, Win_create,
      (void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win),
      (base, size, unit, info, comm, win))
MAKES("window", MPI_WIN_NULL, win, Win_allocate,
      (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win),
      (size, unit, info, comm, base, win))
MAKES("window", MPI_WIN_NULL, win, Win_allocate_shared,
      (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win),
      (size, unit, info, comm, base, win))
MAKES("window", MPI_WIN_NULL, win, Win_create_dynamic,
      (MPI_Info info, MPI_Comm comm, MPI_Win *win), (info, comm, win))
FREES("window", MPI_Win, Win_free)

MAKES("file", MPI_FILE_NULL, file, File_open,
      (MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *file),
      (comm, name, mode, info, file))
FREES("file", MPI_File, File_close)

MAKES("keyval", MPI_KEYVAL_INVALID, keyval, Comm_create_keyval,
      (MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *delete, int *keyval,
       void *state),
      (copy, delete, keyval, state))
FREES("keyval", int, Comm_free_keyval)

MAKES("error handler", MPI_ERRHANDLER_NULL, handler, Comm_create_errhandler,
      (MPI_Comm_errhandler_function *function, MPI_Errhandler *handler), (function, handler))
FREES("error handler", MPI_Errhandler, Errhandler_free)

#define REQUEST(NAME, PARAMETERS, ARGUMENTS) \
    MAKES("request", MPI_REQUEST_NULL, request, NAME, PARAMETERS, ARGUMENTS)
#define MESSAGE(NAME, CONST) \
    REQUEST(NAME, \
            (CONST void *data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, \
             MPI_Request *request), \
            (data, count, type, peer, tag, comm, request))
MESSAGE(Isend, const)
MESSAGE(Issend, const)
MESSAGE(Irecv, )
MESSAGE(Send_init, const)
MESSAGE(Recv_init, )
REQUEST(Ibarrier, (MPI_Comm comm, MPI_Request *request), (comm, request))
FREES("request", MPI_Request, Request_free)
/* clang-format on */

/** Types that are handed out belong to the caller, but for those with a name.
 */
static void keep_type(const char *call, MPI_Datatype type, void *from)
{
    int combiner = MPI_COMBINER_NAMED;
#if MPI_VERSION >= 4 /* the older call does not know types of large counts */
    MPI_Count integers, addresses, counts, types;
    PMPI_Type_get_envelope_c(type, &integers, &addresses, &counts, &types,
                             &combiner);
#else
    int integers, addresses, types;
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
#endif
    if (combiner != MPI_COMBINER_NAMED) {
        keep("datatype", call, number_of(&type, sizeof(type)), from);
    }
}

BOTH(Type_get_contents,
     (MPI_Datatype type, int integers, int addresses, int types, int integer[],
      MPI_Aint address[], MPI_Datatype found[]),
     {
         NEXT(Type_get_contents,
              (MPI_Datatype, int, int, int, int[], MPI_Aint[], MPI_Datatype[]))
         int code =
             next(type, integers, addresses, types, integer, address, found);
         for (int k = 0; code == MPI_SUCCESS && k < types; k++) {
             keep_type("MPI_Type_get_contents", found[k], from);
         }
         return code;
     })

#if MPI_VERSION >= 4
BOTH(Type_get_contents_c,
     (MPI_Datatype type, MPI_Count integers, MPI_Count addresses,
      MPI_Count counts, MPI_Count types, int integer[], MPI_Aint address[],
      MPI_Count count[], MPI_Datatype found[]),
     {
         NEXT(Type_get_contents_c,
              (MPI_Datatype, MPI_Count, MPI_Count, MPI_Count, MPI_Count, int[],
               MPI_Aint[], MPI_Count[], MPI_Datatype[]))
         int code = next(type, integers, addresses, counts, types, integer,
                         address, count, found);
         for (int k = 0; code == MPI_SUCCESS && k < types; k++) {
             keep_type("MPI_Type_get_contents_c", found[k], from);
         }
         return code;
     })
#endif

/** Handlers that are predefined are not for the caller to free. */
BOTH(Comm_get_errhandler, (MPI_Comm comm, MPI_Errhandler *handler), {
    NEXT(Comm_get_errhandler, (MPI_Comm, MPI_Errhandler *))
    int code = next(comm, handler);
    if (code == MPI_SUCCESS && *handler != MPI_ERRORS_RETURN &&
        *handler != MPI_ERRORS_ARE_FATAL) {
        keep("error handler", "MPI_Comm_get_errhandler",
             number_of(handler, sizeof(*handler)), from);
    }
    return code;
})

/** A request that is not persistent is none when it is done. */
static void done(uintptr_t before, const MPI_Request *request, void *from)
{
    if (*request == MPI_REQUEST_NULL) {
        forget("request", before, from);
    }
}

BOTH(Wait, (MPI_Request * request, MPI_Status *status), {
    NEXT(Wait, (MPI_Request *, MPI_Status *))
    uintptr_t before = number_of(request, sizeof(*request));
    int code = next(request, status);
    done(before, request, from);
    return code;
})

BOTH(Test, (MPI_Request * request, int *flag, MPI_Status *status), {
    NEXT(Test, (MPI_Request *, int *, MPI_Status *))
    uintptr_t before = number_of(request, sizeof(*request));
    int code = next(request, flag, status);
    done(before, request, from);
    return code;
})

/** The body of a call that completes any of @a count requests. */
#define COMPLETE(call)                                                         \
    size_t bytes = (size_t)count * sizeof(MPI_Request);                        \
    MPI_Request *before = malloc(bytes ? bytes : 1);                           \
    memcpy(before, requests, bytes);                                           \
    int code = call;                                                           \
    for (int k = 0; k < count; k++) {                                          \
        done(number_of(&before[k], sizeof(before[k])), &requests[k], from);    \
    }                                                                          \
    free(before);                                                              \
    return code;

BOTH(Waitall, (int count, MPI_Request requests[], MPI_Status statuses[]),
     {NEXT(Waitall, (int, MPI_Request[], MPI_Status[]))
          COMPLETE(next(count, requests, statuses))})

BOTH(Testall,
     (int count, MPI_Request requests[], int *flag, MPI_Status statuses[]),
     {NEXT(Testall, (int, MPI_Request[], int *, MPI_Status[]))
          COMPLETE(next(count, requests, flag, statuses))})

BOTH(Finalize, (void), {
    NEXT(Finalize, (void))
    int code = next();
    report();
    return code;
})
