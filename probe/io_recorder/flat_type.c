/* SPDX-License-Identifier: BSD-3-Clause */
#include "io_recorder/flat_type.h"

#include "io_recorder/type_contents.h"

#include <stddef.h>

/* --- arrays ----------------------------------------------------------------
 */

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

/* --- datatypes -------------------------------------------------------------
 */

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
