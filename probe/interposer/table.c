/* SPDX-License-Identifier: BSD-3-Clause */
#include "interposer/table.h"

#include "base/sizes.h"
#include "interposer/json.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY = 32, MAX_RANKS = 1 << 24 };

const char *const iso_tunable_names[ISO_TUNABLES] = {
    "bcast",     "gather",    "scatter",  "reduce",
    "allreduce", "allgather", "alltoall", "reduce_scatter_block"};

bool iso_tunable_reduces(iso_tunable_t operation)
{
    return operation == ISO_REDUCE || operation == ISO_ALLREDUCE ||
           operation == ISO_REDUCE_SCATTER_BLOCK;
}

/** A table that is being read. */
struct reader {
    iso_json_t json;
    iso_table_t *table;
    int points, room_for_points, room_for_rules;
    char *error;
};

/* --- errors --------------------------------------------------------------- */

/** Keep a line about the table, and end its reading. */
#define REFUSE(reader, ...)                                                    \
    do {                                                                       \
        if ((reader)->json.error == NULL) {                                    \
            snprintf((reader)->error, ISO_TABLE_ERROR, __VA_ARGS__);           \
            iso_json_fail(&(reader)->json, (reader)->error);                   \
        }                                                                      \
    } while (0)

/** Make room for one more object in an array that grows; false if there is no
 *  memory. */
static bool room(void **array, int count, int *room, size_t size)
{
    if (count < *room) {
        return true;
    }
    int wanted = *room ? 2 * *room : 64;
    void *larger = realloc(*array, (size_t)wanted * size);
    if (larger) {
        *array = larger;
        *room = wanted;
    }
    return larger != NULL;
}

/* --- a rule --------------------------------------------------------------- */

static void read_points(struct reader *reader, iso_rule_t *rule)
{
    iso_json_t *json = &reader->json;
    iso_json_array_begin(json);
    for (rule->count = 0; iso_json_element(json); rule->count++) {
        double numbers[3] = {0};
        int found = 0;
        iso_json_array_begin(json);
        for (; iso_json_element(json); found++) {
            double number = iso_json_number(json);
            numbers[found < 3 ? found : 0] = number;
        }
        if (found != 3) {
            REFUSE(reader, "rule %d: a point that has not three numbers",
                   reader->table->count);
        }
        if (!room((void **)&reader->table->points, reader->points,
                  &reader->room_for_points, sizeof(iso_gain_t))) {
            REFUSE(reader, "no memory for its points");
            return;
        }
        reader->table->points[reader->points++] =
            (iso_gain_t){numbers[0], numbers[1], numbers[2]};
    }
}

static void read_range(struct reader *reader, iso_rule_t *rule)
{
    long long ends[2] = {0};
    int found = 0;
    iso_json_array_begin(&reader->json);
    for (; iso_json_element(&reader->json); found++) {
        long long end = iso_json_integer(&reader->json);
        ends[found < 2 ? found : 0] = end;
    }
    rule->low = ends[0];
    rule->high = ends[1];
    if (found != 2 || ends[0] > ends[1]) {
        REFUSE(reader, "rule %d: 'bytes' is no range", reader->table->count);
    }
}

static int read_small(struct reader *reader)
{
    long long value = iso_json_integer(&reader->json);
    return value > INT_MAX ? INT_MAX : (int)value;
}

static void read_operation(struct reader *reader, iso_rule_t *rule)
{
    char name[KEY];
    int k = 0;
    iso_json_string(&reader->json, name, sizeof name);
    while (k < ISO_TUNABLES && strcmp(iso_tunable_names[k], name) != 0) {
        k++;
    }
    if (k == ISO_TUNABLES) {
        REFUSE(reader, "rule %d: '%s' has no realisation on a grid",
               reader->table->count, name);
    }
    rule->operation = (iso_tunable_t)k;
}

static void read_grid(struct reader *reader, iso_rule_t *rule)
{
    char word[ISO_GRID_WORD], why[ISO_ERROR_LENGTH];
    iso_json_string(&reader->json, word, sizeof word);
    if (reader->json.error == NULL &&
        iso_grid_parse(word, strlen(word), &rule->grid, why)) {
        REFUSE(reader, "rule %d: %s", reader->table->count, why);
    }
}

static void read_nodes(struct reader *reader, iso_rule_t *rule)
{
    rule->nodes = 0;
    if (!iso_json_null(&reader->json)) {
        rule->nodes = read_small(reader);
        if (rule->nodes == 0) {
            REFUSE(reader, "rule %d: 0 nodes", reader->table->count);
        }
    }
}

/** Refuse a rule that cannot be applied. */
static void check_rule(struct reader *reader, const iso_rule_t *rule)
{
    int number = reader->table->count;
    char why[ISO_ERROR_LENGTH];
    if (rule->ranks < 1 || rule->ranks > MAX_RANKS) {
        REFUSE(reader, "rule %d: 'ranks' is not from 1 to %d", number,
               (int)MAX_RANKS);
    } else if (rule->nodes > rule->ranks) {
        REFUSE(reader, "rule %d: %d nodes for %d ranks", number, rule->nodes,
               rule->ranks);
    } else if (iso_grid_check(&rule->grid, rule->ranks, why)) {
        REFUSE(reader, "rule %d: %s", number, why);
    } else if (rule->count == 0) {
        REFUSE(reader, "rule %d: it has no points", number);
    }
    double before = -1;
    for (int k = rule->count; k > 0; k--) {
        iso_gain_t *point = &reader->table->points[reader->points - k];
        if (!(point->bytes > before && isfinite(point->bytes))) {
            REFUSE(reader, "rule %d: the points are not by ascending bytes",
                   number);
        }
        if (!(isfinite(point->library) && point->library > 0 &&
              isfinite(point->grid) && point->grid > 0)) {
            REFUSE(reader, "rule %d: a point with a time that is not above 0",
                   number);
        }
        before = point->bytes;
    }
}

static void read_rule(struct reader *reader, iso_rule_t *rule)
{
    enum { OP = 1, RANKS = 2, BYTES = 4, GRID = 8, POINTS = 16, ALL = 31 };
    iso_json_t *json = &reader->json;
    char key[KEY];
    unsigned seen = 0;
    iso_json_object_begin(json);
    while (iso_json_member(json, key, sizeof key)) {
        unsigned bit = 0;
        if (strcmp(key, "op") == 0) {
            bit = OP;
            read_operation(reader, rule);
        } else if (strcmp(key, "ranks") == 0) {
            bit = RANKS;
            rule->ranks = read_small(reader);
        } else if (strcmp(key, "bytes") == 0) {
            bit = BYTES;
            read_range(reader, rule);
        } else if (strcmp(key, "grid") == 0) {
            bit = GRID;
            read_grid(reader, rule);
        } else if (strcmp(key, "points") == 0) {
            bit = POINTS;
            read_points(reader, rule);
        } else if (strcmp(key, "nodes") == 0) {
            read_nodes(reader, rule);
        } else {
            iso_json_skip(json);
        }
        if (seen & bit) {
            REFUSE(reader, "rule %d: '%s' twice", reader->table->count, key);
        }
        seen |= bit;
    }
    if (seen != ALL) {
        REFUSE(reader,
               "rule %d: one of 'op', 'ranks', 'bytes', 'grid' and "
               "'points' is missing",
               reader->table->count);
    }
    if (json->error == NULL) {
        check_rule(reader, rule);
    }
}

/* --- all rules ------------------------------------------------------------ */

static int by_use(const void *a, const void *b)
{
    const iso_rule_t *one = a, *other = b;
    if (one->operation != other->operation) {
        return one->operation < other->operation ? -1 : 1;
    }
    if (one->ranks != other->ranks) {
        return one->ranks < other->ranks ? -1 : 1;
    }
    if (one->low != other->low) {
        return one->low < other->low ? -1 : 1;
    }
    return (one->nodes > other->nodes) - (one->nodes < other->nodes);
}

static bool same_group(const iso_rule_t *a, const iso_rule_t *b)
{
    return a->operation == b->operation && a->ranks == b->ranks;
}

/** Refuse two rules that hold for the same call. */
static void check_overlaps(struct reader *reader)
{
    const iso_rule_t *rules = reader->table->rules;
    int count = reader->table->count;
    for (int a = 0; a < count; a++) {
        for (int b = a + 1; b < count && same_group(&rules[a], &rules[b]) &&
                            rules[b].low <= rules[a].high;
             b++) {
            if (rules[a].nodes == 0 || rules[b].nodes == 0 ||
                rules[a].nodes == rules[b].nodes) {
                REFUSE(reader, "two rules overlap: %s, %d ranks",
                       iso_tunable_names[rules[a].operation], rules[a].ranks);
                return;
            }
        }
    }
}

/** Gather the sorted rules into groups. */
static void make_groups(struct reader *reader)
{
    iso_table_t *table = reader->table;
    iso_rules_t *group = NULL;
    int made = 0;
    table->groups = calloc((size_t)table->count + 1, sizeof *table->groups);
    if (table->groups == NULL) {
        REFUSE(reader, "no memory for its rules");
        return;
    }
    for (int k = 0; k < table->count; k++) {
        const iso_rule_t *rule = &table->rules[k];
        if (k == 0 || !same_group(rule, rule - 1)) {
            group = &table->groups[made++];
            *group = (iso_rules_t){rule->ranks, rule->low, rule->high, rule, 0};
        }
        group->high = rule->high > group->high ? rule->high : group->high;
        group->count++;
        for (int op = (int)rule->operation; op < ISO_TUNABLES; op++) {
            table->first[op + 1] = made;
        }
    }
}

static void finish_rules(struct reader *reader)
{
    iso_table_t *table = reader->table;
    const iso_gain_t *points = table->points;
    for (int k = 0; k < table->count; k++) { /* they lie in this order */
        table->rules[k].points = points;
        points += table->rules[k].count;
    }
    if (table->count) {
        qsort(table->rules, (size_t)table->count, sizeof *table->rules, by_use);
    }
    check_overlaps(reader);
    make_groups(reader);
}

static void read_rules(struct reader *reader)
{
    iso_table_t *table = reader->table;
    iso_json_array_begin(&reader->json);
    while (iso_json_element(&reader->json)) {
        if (table->count == ISO_TABLE_MAX_RULES ||
            !room((void **)&table->rules, table->count, &reader->room_for_rules,
                  sizeof *table->rules)) {
            REFUSE(reader, "more than %d rules", (int)ISO_TABLE_MAX_RULES);
            return;
        }
        table->rules[table->count] = (iso_rule_t){0};
        read_rule(reader, &table->rules[table->count]);
        table->count++;
    }
}

/* --- the table ------------------------------------------------------------ */

/** Read the members of the table. */
static void read_members(struct reader *reader)
{
    enum { RECORD = 1, FORMAT = 2, MPI = 4, RULES = 8, ALL = 15 };
    iso_json_t *json = &reader->json;
    char key[KEY], word[KEY];
    unsigned seen = 0;
    iso_json_object_begin(json);
    while (iso_json_member(json, key, sizeof key)) {
        unsigned bit = 0;
        if (strcmp(key, "record") == 0) {
            bit = RECORD;
            iso_json_string(json, word, sizeof word);
            if (strcmp(word, "tuning") != 0) {
                REFUSE(reader, "it holds a '%s'", word);
            }
        } else if (strcmp(key, "format") == 0) {
            bit = FORMAT;
            if (read_small(reader) != ISO_TABLE_FORMAT) {
                REFUSE(reader, "its format is not %d", (int)ISO_TABLE_FORMAT);
            }
        } else if (strcmp(key, "mpi") == 0) {
            bit = MPI;
            iso_json_string(json, reader->table->mpi, ISO_MPI_NAME);
        } else if (strcmp(key, "rules") == 0) {
            bit = RULES;
            if (!(seen & RULES)) {
                read_rules(reader);
            }
        } else {
            iso_json_skip(json);
        }
        if (seen & bit) {
            REFUSE(reader, "'%s' twice", key);
        }
        seen |= bit;
    }
    if (strpbrk(reader->table->mpi, "0123456789") == NULL && seen & MPI) {
        REFUSE(reader, "'mpi' has no version");
    }
    if (seen != ALL) {
        REFUSE(reader, "one of 'record', 'format', 'mpi' and 'rules' is "
                       "missing");
    }
}

int iso_table_read(const char *text, size_t length, iso_table_t *table,
                   char *error)
{
    struct reader reader = {
        .json = iso_json_open(text, length), .table = table, .error = error};
    *table = (iso_table_t){0};
    error[0] = '\0';
    read_members(&reader);
    if (iso_json_end(&reader.json)) {
        finish_rules(&reader);
    }
    const char *why = reader.json.error;
    if (why == NULL) {
        return 0;
    }
    if (why != error) { /* of the reader of JSON, which knows the place */
        snprintf(error, ISO_TABLE_ERROR, "byte %zu: %s",
                 (size_t)(reader.json.at - reader.json.begin), why);
    }
    iso_table_free(table);
    return -1;
}

void iso_table_free(iso_table_t *table)
{
    free(table->rules);
    free(table->points);
    free(table->groups);
    *table = (iso_table_t){0};
}
