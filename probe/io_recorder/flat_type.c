/* SPDX-License-Identifier: BSD-3-Clause */
#include "io_recorder/flat_type.h"

#include "recording/memory.h"
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- type contents ----------------------------------------------------- */

/*
 * Contents of a datatype, built with small or large counts.
 */

/** As MPI_Type_get_contents of MPI 3 has it, whatever the MPI. */
typedef struct {
    int combiner;
    int64_t *counts;
    int64_t *displacements; /**< those in bytes */
    MPI_Datatype *types;
    int type_count; /**< 0 of predefined datatypes */
} iso_contents_t;

/** A copy of whole numbers of another type, as 64 bits. */
#define COPY(to, from, count)                                                  \
    for (int64_t copied = 0; copied < (count); copied++) {                     \
        (to)[copied] = (from)[copied];                                         \
    }

#if MPI_VERSION >= 4
typedef MPI_Count count_t;
#define ENVELOPE(type, small, addresses, large, types, combiner)               \
    PMPI_Type_get_envelope_c(type, small, addresses, large, types, combiner)
#define CONTENTS PMPI_Type_get_contents_c
#else
typedef int count_t;
/* There are no large counts. */
#define ENVELOPE(type, small, addresses, large, types, combiner)               \
    ((void)(large),                                                            \
     PMPI_Type_get_envelope(type, small, addresses, types, combiner))
#define CONTENTS(type, small, addresses, large, types, whole, bytes, numbers,  \
                 made)                                                         \
    PMPI_Type_get_contents(type, small, addresses, types, whole, bytes, made)
#endif

static int iso_type_combiner(MPI_Datatype type)
{
    count_t counts, addresses, large, types;
    int combiner = MPI_COMBINER_NAMED;
    ENVELOPE(type, &counts, &addresses, &large, &types, &combiner);
    return combiner;
}

/** How many of the large counts of a datatype are displacements in bytes,
 *  which follow the others. */
static int64_t displacements_among(int combiner, int64_t count)
{
    switch (combiner) {
    case MPI_COMBINER_HVECTOR:
        return 1;
    case MPI_COMBINER_RESIZED:
        return 2;
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_STRUCT:
    case MPI_COMBINER_HINDEXED_BLOCK:
        return count;
    default:
        return 0;
    }
}

/** How many of the small counts precede the large ones, where a datatype
 *  of small counts has all of them in one list. */
static int64_t small_before(int combiner)
{
    return combiner == MPI_COMBINER_SUBARRAY ? 1
           : combiner == MPI_COMBINER_DARRAY ? 3
                                             : 0;
}

/** Ask in the way of MPI 4, and put what it says in the order of MPI 3. Some
 *  libraries answer in no other way for what was made of large counts. */
static void ask(MPI_Datatype type, iso_contents_t *contents)
{
    count_t small = 0, addresses = 0, large = 0, types = 0;
    ENVELOPE(type, &small, &addresses, &large, &types, &contents->combiner);
    if (types == 0) {
        return;
    }
    int *whole = iso_zeroed(small * sizeof(*whole));
    MPI_Aint *bytes = iso_zeroed(addresses * sizeof(*bytes));
    count_t *numbers = iso_zeroed((large + 1) * sizeof(*numbers));
    contents->type_count = types;
    contents->types = iso_zeroed(types * sizeof(*contents->types));
    CONTENTS(type, small, addresses, large, types, whole, bytes, numbers,
             contents->types);
    int64_t behind =
        large ? displacements_among(contents->combiner, numbers[0]) : 0;
    int64_t between = large - behind;
    int64_t before = large ? small_before(contents->combiner) : small;
    contents->counts = iso_zeroed((small + between) * sizeof(int64_t));
    contents->displacements =
        iso_zeroed((addresses + behind) * sizeof(int64_t));
    COPY(contents->counts, whole, before)
    COPY(&contents->counts[before], numbers, between)
    COPY(&contents->counts[before + between], &whole[before], small - before)
    COPY(contents->displacements, bytes, addresses)
    COPY(&contents->displacements[addresses], &numbers[between], behind)
    free(whole);
    free(bytes);
    free(numbers);
}

/** Ask for it; to be released, even if there is none.
 *  @return whether the datatype was made of others */
static bool iso_type_contents(MPI_Datatype type, iso_contents_t *contents)
{
    *contents = (iso_contents_t){0};
    ask(type, contents);
    return contents->type_count > 0;
}

static bool is_predefined(int combiner)
{
    return combiner == MPI_COMBINER_NAMED ||
           combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX ||
           combiner == MPI_COMBINER_F90_INTEGER;
}

static void iso_contents_free(iso_contents_t *contents)
{
    for (int k = 0; k < contents->type_count; k++) {
        if (!is_predefined(iso_type_combiner(contents->types[k]))) {
            PMPI_Type_free(&contents->types[k]);
        }
    }
    free(contents->counts);
    free(contents->displacements);
    free(contents->types);
}

/* --- arrays ------------------------------------------------------------ */

/* The parts of arrays that MPI_Type_create_subarray and
 * MPI_Type_create_darray describe, as pieces. */

/** The arguments of the datatype, as MPI_Type_get_contents gives them. */
typedef struct {
    int dimensions, order;
    const int64_t *sizes;
    const int64_t *parts, *starts;    /**< of a subarray, else NULL */
    int rank;                         /**< among the processes of a darray */
    const int64_t *kinds, *arguments; /**< how its dimensions are cut */
    const int64_t *processes;
} array_t;

/** The indices of one dimension: blocks of `length`, with distance `stride`. */
typedef struct {
    int64_t first, length, stride, size;
} cut_t;

/** Where the process of a darray is in its grid, which is always row by row. */
static int64_t coordinate(const array_t *array, int dimension)
{
    int64_t rank = array->rank;
    for (int d = array->dimensions - 1; d > dimension; d--) {
        rank /= array->processes[d];
    }
    return rank % array->processes[dimension];
}

static cut_t cut_of(const array_t *array, int d)
{
    int64_t size = array->sizes[d];
    if (array->parts) {
        return (cut_t){array->starts[d], array->parts[d], size + 1,
                       array->starts[d] + array->parts[d]};
    }
    int64_t processes = array->processes[d], block = array->arguments[d];
    int64_t at = coordinate(array, d);
    if (array->kinds[d] == MPI_DISTRIBUTE_NONE) {
        return (cut_t){0, size, size + 1, size};
    }
    if (array->kinds[d] == MPI_DISTRIBUTE_BLOCK) {
        block = block == MPI_DISTRIBUTE_DFLT_DARG
                    ? (size + processes - 1) / processes
                    : block;
        return (cut_t){at * block, block, size + 1, size};
    }
    block = block == MPI_DISTRIBUTE_DFLT_DARG ? 1 : block;
    return (cut_t){at * block, block, processes * block, size};
}

/** Repeat the inner pieces along one dimension. */
static void add_dimension(const cut_t *cut, const iso_pieces_t *inside,
                          int64_t extent, iso_pieces_t *list)
{
    for (int64_t at = cut->first; at < cut->size && !list->too_many;
         at += cut->stride) {
        int64_t rest = cut->size - at;
        iso_pieces_repeat(list, inside, at * extent,
                          cut->length < rest ? cut->length : rest, extent);
    }
    iso_pieces_end(list);
}

/** Add the pieces of a part of an array of elements of this extent. */
static void flatten_array(const array_t *array, const iso_pieces_t *element,
                          int64_t extent, iso_pieces_t *list)
{
    iso_pieces_t inside = {0};
    iso_pieces_add_all(&inside, element, 0);
    iso_pieces_end(&inside);
    for (int k = 0; k < array->dimensions; k++) {
        int d = array->order == MPI_ORDER_C ? array->dimensions - 1 - k : k;
        cut_t cut = cut_of(array, d);
        iso_pieces_t outside = {0};
        add_dimension(&cut, &inside, extent, &outside);
        extent *= array->sizes[d];
        iso_pieces_free(&inside);
        inside = outside;
    }
    iso_pieces_add_all(list, &inside, 0);
    iso_pieces_free(&inside);
}

/* --- datatypes --------------------------------------------------------- */

int64_t iso_type_size(MPI_Datatype type)
{
    MPI_Count size = 0;
    PMPI_Type_size_x(type, &size);
    return size;
}

int64_t iso_type_extent(MPI_Datatype type)
{
    MPI_Count low = 0, extent = 0;
    PMPI_Type_get_extent_x(type, &low, &extent);
    return extent;
}

/** Add a predefined datatype. Only this pair has a gap inside. */
static void add_predefined(MPI_Datatype type, iso_pieces_t *list)
{
    struct pair {
        short value;
        int index;
    };
    if (type == MPI_SHORT_INT) {
        iso_pieces_add(list, 0, sizeof(short), 1, 0);
        iso_pieces_add(list, offsetof(struct pair, index), sizeof(int), 1, 0);
        return;
    }
    iso_pieces_add(list, 0, iso_type_size(type), 1, 0);
}

/** One datatype that another one was made of. */
typedef struct iso_part {
    iso_pieces_t pieces;
    int64_t extent;
} iso_part_t;

static bool part_of(MPI_Datatype type, iso_part_t *part)
{
    *part = (iso_part_t){.extent = iso_type_extent(type)};
    return iso_type_flatten(type, &part->pieces);
}

static void add_blocks(const iso_contents_t *made, const iso_part_t *part,
                       iso_pieces_t *list)
{
    const int64_t *counts = made->counts, *bytes = made->displacements;
    const iso_pieces_t *pieces = &part->pieces;
    int64_t n = counts[0], extent = part->extent;
    switch (made->combiner) {
    case MPI_COMBINER_CONTIGUOUS:
        iso_pieces_repeat(list, pieces, 0, n, extent);
        return;
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
        for (int64_t k = 0; k < n && !list->too_many; k++) {
            int64_t at = made->combiner == MPI_COMBINER_INDEXED
                             ? counts[1 + n + k] * extent
                             : bytes[k];
            iso_pieces_repeat(list, pieces, at, counts[1 + k], extent);
        }
        return;
    default: /* blocks of one length */
        break;
    }
    iso_pieces_t block = {0};
    iso_pieces_repeat(&block, pieces, 0, counts[1], extent);
    iso_pieces_end(&block);
    if (made->combiner == MPI_COMBINER_VECTOR ||
        made->combiner == MPI_COMBINER_HVECTOR) {
        int64_t stride = made->combiner == MPI_COMBINER_VECTOR
                             ? counts[2] * extent
                             : bytes[0];
        iso_pieces_repeat(list, &block, 0, n, stride);
    } else {
        bool elements = made->combiner == MPI_COMBINER_INDEXED_BLOCK;
        for (int64_t k = 0; k < n && !list->too_many; k++) {
            iso_pieces_add_all(list, &block,
                               elements ? counts[2 + k] * extent : bytes[k]);
        }
    }
    iso_pieces_free(&block);
}

static void add_array(const iso_contents_t *made, const iso_part_t *part,
                      iso_pieces_t *list)
{
    const int64_t *counts = made->counts;
    array_t array = {0};
    if (made->combiner == MPI_COMBINER_SUBARRAY) {
        int n = array.dimensions = counts[0];
        array.sizes = &counts[1];
        array.parts = &counts[1 + n];
        array.starts = &counts[1 + 2 * n];
        array.order = counts[1 + 3 * n];
    } else {
        int n = array.dimensions = counts[2];
        array.rank = counts[1];
        array.sizes = &counts[3];
        array.kinds = &counts[3 + n];
        array.arguments = &counts[3 + 2 * n];
        array.processes = &counts[3 + 3 * n];
        array.order = counts[3 + 4 * n];
    }
    flatten_array(&array, &part->pieces, part->extent, list);
}

static bool add_struct(const iso_contents_t *made, iso_pieces_t *list)
{
    bool known = true;
    for (int k = 0; k < made->type_count && known; k++) {
        iso_part_t part;
        known = part_of(made->types[k], &part);
        iso_pieces_repeat(list, &part.pieces, made->displacements[k],
                          made->counts[1 + k], part.extent);
        iso_pieces_free(&part.pieces);
    }
    return known;
}

/** Add a datatype that was made of one other. */
static bool add_made(const iso_contents_t *made, iso_pieces_t *list)
{
    iso_part_t part;
    bool known = part_of(made->types[0], &part);
    switch (made->combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
        iso_pieces_add_all(list, &part.pieces, 0);
        break;
    case MPI_COMBINER_SUBARRAY:
    case MPI_COMBINER_DARRAY:
        add_array(made, &part, list);
        break;
    case MPI_COMBINER_CONTIGUOUS:
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
        add_blocks(made, &part, list);
        break;
    default:
        known = false;
    }
    iso_pieces_free(&part.pieces);
    return known;
}

bool iso_type_flatten(MPI_Datatype type, iso_pieces_t *list)
{
    iso_contents_t made;
    bool known = true;
    if (!iso_type_contents(type, &made)) {
        add_predefined(type, list);
    } else if (made.combiner == MPI_COMBINER_STRUCT) {
        known = add_struct(&made, list);
    } else {
        known = add_made(&made, list);
    }
    iso_contents_free(&made);
    iso_pieces_end(list);
    return known && !list->too_many;
}
