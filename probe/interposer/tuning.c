/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L
#include "interposer/tuning.h"

#include "interposer/report.h"
#include "preload/program.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* --- communicators ---------------------------------------------------------
 */

/* Properties of a communicator, cached with it. */

/** The attribute with the number of nodes, as a number in place of a pointer.
 */
static int keyval = MPI_KEYVAL_INVALID;

/** Before the others, after MPI_Init. */
/** Before MPI_Finalize; communicators are unknown afterwards. */
/** Count nodes: their first ranks are added up. */
static int count_nodes(MPI_Comm comm)
{
    MPI_Comm node = MPI_COMM_NULL;
    int rank = 0, nodes = -1;
    if (PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                             &node) != MPI_SUCCESS) {
        return -1;
    }
    PMPI_Comm_rank(node, &rank);
    PMPI_Comm_free(&node);
    int first = rank == 0;
    int code = PMPI_Allreduce(&first, &nodes, 1, MPI_INT, MPI_SUM, comm);
    return code == MPI_SUCCESS ? nodes : -1;
}

/** Number of nodes of its ranks, -1 if unknown. Collective in the first call.
 */
static int nodes_of(MPI_Comm comm)
{
    void *known = NULL;
    int found = 0;
    if (keyval == MPI_KEYVAL_INVALID) { /* within MPI_Finalize */
        return -1;
    }
    PMPI_Comm_get_attr(comm, keyval, &known, &found);
    if (found) {
        return (intptr_t)known;
    }
    int nodes = count_nodes(comm);
    PMPI_Comm_set_attr(comm, keyval, (void *)(intptr_t)nodes);
    return nodes;
}

/* --- the active table ----------------------------------------------------
 */

enum { EXIT_USAGE = 2, NO_TABLE = -1, NOT_READ = -2 };

/** Written by iso_tuning_begin, only read afterwards: by any thread. NULL
 *  where there is none. */
static iso_table_t *table;
static bool reductions_left; /**< to the library, despite the table */

/** End all ranks. Collective. */
static _Noreturn void stop(void)
{
    fflush(NULL);
    PMPI_Finalize();
    _exit(EXIT_USAGE);
}

/** At rank 0: read a file; return its length, or NOT_READ after a line that
 *  says why. */
static int read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    bool found = file && fseek(file, 0, SEEK_END) == 0;
    long length = found ? ftell(file) : -1;
    if (length > INT_MAX) { /* as a folder has, too */
        errno = EFBIG;
    } else if (length >= 0 && (table = malloc(length + 1))) {
        rewind(file);
        found = fread(table, 1, length, file) == (size_t)length;
    }
    if (table == NULL || !found) {
        iso_report_line("%s: cannot read the tuning table: %s", path,
                        strerror(errno));
        length = NOT_READ;
    }
    if (file) {
        fclose(file);
    }
    return length;
}

/** Distribute the table named by ISOCHRONE_TUNING at rank 0 to all ranks: one
 * read, one table. Ends the program if it cannot be read. */
static void read_table(void)
{
    const char *setting = getenv("ISOCHRONE_TUNING");
    int rank = 0, length = NO_TABLE;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && setting != NULL && *setting != '\0') {
        length = read_file(setting);
    }
    PMPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (length == NO_TABLE) {
        return;
    }
    if (length == NOT_READ) {
        stop();
    }
    if (table == NULL && (table = malloc((size_t)length + 1)) == NULL) {
        fprintf(stderr, "isochrone-grid: no memory for the tuning table\n");
        PMPI_Abort(MPI_COMM_WORLD, EXIT_USAGE); /* the others do not know it */
    }
    PMPI_Bcast(table, length, MPI_CHAR, 0, MPI_COMM_WORLD);
    const char *bad = iso_table_check(table, length);
    if (bad) { /* the same at all ranks */
        iso_report_line("%s: unusable tuning table: %s", setting, bad);
        stop();
    }
}

/** Report if the table is for another MPI. */
static bool is_other_mpi(void)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING], here[ISO_MPI_NAME];
    int length = 0;
    PMPI_Get_library_version(library, &length);
    iso_mpi_name(library, here);
    if (strcasecmp(here, table->mpi) == 0) {
        return false;
    }
    iso_report_line("%s not applied: it is for %s, and this is %s", table->path,
                    table->mpi, here);
    return true;
}

/** Say if no rule is for all ranks of the program. */
static void check_ranks(void)
{
    int size = 0, nearest = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int k = 0; k < table->first[ISO_TUNABLES]; k++) {
        int ranks = table->rules[k].ranks;
        if (ranks == size) {
            return;
        }
        nearest = nearest == 0 || ranks < nearest ? ranks : nearest;
    }
    if (nearest > size) {
        iso_report_line("%s not applied: its rules need at least %d ranks, "
                        "this program has %d",
                        table->path, nearest, size);
    } else if (nearest) {
        iso_report_line("%s has no rule for %d ranks; its rules are for "
                        "communicators of other sizes, such as %d",
                        table->path, size, nearest);
    }
}

/** Read and activate the table. An unreadable one ends the program with one
 *  line of rank 0 and exit code 2. */
void iso_program_begins(void)
{
    static bool begun; /* by a Fortran function that called the C function */
    if (begun) {
        return;
    }
    begun = true;
    read_table();
    if (table == NULL) {
        return;
    }
    const char *setting = getenv("ISOCHRONE_TUNING_REDUCTIONS");
    int left = setting != NULL && strcmp(setting, "library") == 0;
    PMPI_Bcast(&left, 1, MPI_INT, 0, MPI_COMM_WORLD);
    reductions_left = left;
    if (is_other_mpi()) {
        memset(table->first, 0, sizeof table->first);
    } else {
        check_ranks();
    }
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN,
                            &keyval, NULL);
    iso_report_begin(table);
}

/** Report, if requested. */
void iso_program_ends(void)
{
    iso_report_end(reductions_left);
    free(table);
    table = NULL;
    if (keyval != MPI_KEYVAL_INVALID) {
        PMPI_Comm_free_keyval(&keyval);
    }
}

/** Bytes of a block; LLONG_MAX where count or type are of 2 GiB and more. */
static long long bytes_of(long long count, MPI_Datatype type)
{
    int small = 0;
    MPI_Count size = 0;
    PMPI_Type_size(type, &small);
    size = small;
    if (small < 0) { /* MPI_UNDEFINED: beyond int */
        PMPI_Type_size_x(type, &size);
    }
    if (size < 0 || (size > 0 && (size > INT_MAX || count > INT_MAX))) {
        return LLONG_MAX;
    }
    return size * count;
}

/** Whether there are rules for an operation. */
static bool is_tuned(iso_tunable_t operation)
{
    return table && table->first[operation] != table->first[operation + 1];
}

/** Find the first rule of an operation on so many ranks or more. */
static int first_rule(iso_tunable_t operation, int ranks)
{
    int low = table->first[operation], high = table->first[operation + 1];
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (table->rules[middle].ranks < ranks) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/** Find the rule for a block, or NULL. */
static const iso_rule_t *find(iso_tunable_t operation, int ranks,
                              long long bytes, MPI_Comm comm)
{
    int nodes = 0; /* of the communicator, where a rule asks for them */
    for (int k = first_rule(operation, ranks);
         k < table->first[operation + 1] && table->rules[k].ranks == ranks &&
         table->rules[k].low <= bytes;
         k++) {
        const iso_rule_t *rule = &table->rules[k];
        if (bytes > rule->high) {
            continue;
        }
        if (rule->nodes) {
            nodes = nodes ? nodes : nodes_of(comm);
        }
        if (rule->nodes == 0 || rule->nodes == nodes) {
            return rule;
        }
    }
    return NULL;
}

const iso_grid_t *iso_tuning_choice(iso_tunable_t operation, long long count,
                                    MPI_Datatype type, MPI_Comm comm)
{
    int ranks = 0, inter = 0;
    if (is_tuned(operation) && count > 0 && type != MPI_DATATYPE_NULL &&
        comm != MPI_COMM_NULL &&
        !(reductions_left && iso_tunable_reduces(operation))) {
        long long bytes = bytes_of(count, type);
        PMPI_Comm_size(comm, &ranks);
        PMPI_Comm_test_inter(comm, &inter);
        const iso_rule_t *rule = bytes == 0 || bytes > INT_MAX || inter
                                     ? NULL
                                     : find(operation, ranks, bytes, comm);
        if (rule) {
            iso_report_choice(rule, bytes);
            return &rule->grid;
        }
    }
    iso_report_pass(operation);
    return NULL;
}

const iso_grid_t *
iso_tuning_rooted(iso_tunable_t operation, long long root_count,
                  MPI_Datatype root_type, long long other_count,
                  MPI_Datatype other_type, int root, MPI_Comm comm)
{
    int rank = 0;
    if (is_tuned(operation) && comm != MPI_COMM_NULL) {
        PMPI_Comm_rank(comm, &rank);
    }
    return rank == root
               ? iso_tuning_choice(operation, root_count, root_type, comm)
               : iso_tuning_choice(operation, other_count, other_type, comm);
}

const char *const iso_program_library = "isochrone-grid";
