/* SPDX-License-Identifier: BSD-3-Clause */
#include "interposer/tuning.h"

#include "interposer/communicator.h"
#include "interposer/report.h"
#include "interposer/table_file.h"
#include "loaded/program.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/** Written by iso_tuning_begin, only read afterwards: by any thread. */
static iso_table_t table;
static bool reductions_left; /**< to the library, whatever the table says */

/** Say if the table is of another MPI than this one. */
static bool is_other_mpi(const char *path)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING], here[ISO_MPI_NAME],
        wanted[ISO_MPI_NAME];
    int length = 0;
    PMPI_Get_library_version(library, &length);
    iso_mpi_name(library, here);
    iso_mpi_name(table.mpi, wanted);
    if (strcasecmp(here, wanted) == 0) {
        return false;
    }
    iso_report_line("%s is for %s, and this is %s: nothing is changed", path,
                    wanted, here);
    return true;
}

/** Say if no rule is for all ranks of the program. */
static void check_ranks(const char *path)
{
    int size = 0, nearest = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int k = 0; k < table.count; k++) {
        if (table.rules[k].ranks == size) {
            return;
        }
        nearest = nearest == 0 || table.rules[k].ranks < nearest
                      ? table.rules[k].ranks
                      : nearest;
    }
    if (nearest > size) {
        iso_report_line("%s has rules for %d ranks or more, and these are %d: "
                        "nothing is changed",
                        path, nearest, size);
    } else if (nearest) {
        iso_report_line("%s has no rule for the %d ranks of this program, only "
                        "for communicators of other sizes, such as %d",
                        path, size, nearest);
    }
}

/** Ask the environment of rank 0 who does reductions. */
static bool leaves_reductions(void)
{
    const char *asked = getenv("ISOCHRONE_TUNING_REDUCTIONS");
    int left = asked != NULL && strcmp(asked, "library") == 0;
    PMPI_Bcast(&left, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return left;
}

void iso_tuning_begin(void)
{
    static bool begun; /* by a Fortran function that called the C function */
    char path[ISO_TABLE_PATH];
    iso_table_t read;
    if (begun) {
        return;
    }
    begun = true;
    if (!iso_table_file_read(&read, path)) {
        return;
    }
    table = read;
    reductions_left = leaves_reductions();
    if (is_other_mpi(path)) {
        iso_table_free(&table);
    } else {
        check_ranks(path);
    }
    iso_communicator_begin();
    iso_report_begin(&table, path);
}

void iso_tuning_end(void)
{
    iso_report_end(&table, reductions_left);
    iso_table_free(&table);
    iso_communicator_end();
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
    return (long long)size * count;
}

/** Find the rule for a block among those for so many ranks, or NULL. */
static const iso_rule_t *find(const iso_rules_t *group, long long bytes,
                              MPI_Comm comm)
{
    int nodes = 0; /* of the communicator, where a rule asks for them */
    for (int k = 0; k < group->count && group->rules[k].low <= bytes; k++) {
        const iso_rule_t *rule = &group->rules[k];
        if (bytes > rule->high) {
            continue;
        }
        if (rule->nodes == 0) {
            return rule;
        }
        nodes = nodes ? nodes : iso_communicator_nodes(comm);
        if (rule->nodes == nodes) {
            return rule;
        }
    }
    return NULL;
}

static const iso_rule_t *look_up(iso_tunable_t operation, long long count,
                                 MPI_Datatype type, MPI_Comm comm)
{
    int ranks = 0;
    if (table.first[operation] == table.first[operation + 1] || count <= 0 ||
        type == MPI_DATATYPE_NULL || comm == MPI_COMM_NULL ||
        (reductions_left && iso_tunable_reduces(operation))) {
        return NULL;
    }
    PMPI_Comm_size(comm, &ranks);
    const iso_rules_t *group = iso_table_rules(&table, operation, ranks);
    if (group == NULL) {
        return NULL;
    }
    long long bytes = bytes_of(count, type);
    if (bytes < group->low || bytes > group->high || bytes == 0 ||
        bytes > INT_MAX || iso_communicator_is_inter(comm)) {
        return NULL;
    }
    const iso_rule_t *rule = find(group, bytes, comm);
    if (rule) {
        iso_report_choice(rule, bytes);
    }
    return rule;
}

const iso_grid_t *iso_tuning_choice(iso_tunable_t operation, long long count,
                                    MPI_Datatype type, MPI_Comm comm)
{
    const iso_rule_t *rule = look_up(operation, count, type, comm);
    if (rule == NULL) {
        iso_report_pass(operation);
        return NULL;
    }
    return &rule->grid;
}

const iso_grid_t *
iso_tuning_rooted(iso_tunable_t operation, long long root_count,
                  MPI_Datatype root_type, long long other_count,
                  MPI_Datatype other_type, int root, MPI_Comm comm)
{
    int rank = 0;
    if (table.first[operation] != table.first[operation + 1] &&
        comm != MPI_COMM_NULL) {
        PMPI_Comm_rank(comm, &rank);
    }
    return rank == root
               ? iso_tuning_choice(operation, root_count, root_type, comm)
               : iso_tuning_choice(operation, other_count, other_type, comm);
}

const char *const iso_program_library = "isochrone-grid";

void iso_program_begins(void)
{
    iso_tuning_begin();
}

void iso_program_ends(void)
{
    iso_tuning_end();
}
