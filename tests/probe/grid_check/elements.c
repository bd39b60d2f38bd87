/* SPDX-License-Identifier: BSD-3-Clause */
#include "elements.h"

#include "base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Elements that lie within each other: more than 4 bytes times all of them. */
enum { FAR = 65536 };

MPI_Op op_affine, op_add;

static element_t elements[] = {
    {"int", INTS, 1, {0}, 0, 4, true, MPI_DATATYPE_NULL},
    {"three", INTS, 3, {0, 4, 8}, 0, 12, true, MPI_DATATYPE_NULL},
    {"gap", INTS, 2, {0, 8}, 0, 16, true, MPI_DATATYPE_NULL},
    {"reversed", INTS, 2, {4, 0}, 0, 8, true, MPI_DATATYPE_NULL},
    {"negative", INTS, 2, {-4, -8}, -12, 16, true, MPI_DATATYPE_NULL},
    {"interleaved", INTS, 2, {0, FAR}, 0, 4, true, MPI_DATATYPE_NULL},
    {"double", DOUBLES, 1, {0}, 0, 8, true, MPI_DATATYPE_NULL},
    {"double_int", PAIRS, 2, {0, 8}, 0, 16, false, MPI_DATATYPE_NULL},
    {"pair", PAIRS, 2, {16, 4}, -8, 40, true, MPI_DATATYPE_NULL},
};

enum { ELEMENTS = sizeof(elements) / sizeof(elements[0]) };

static bool field_is_double(const element_t *e, int field)
{
    return e->family == DOUBLES || (e->family == PAIRS && field == 0);
}

static size_t field_size(const element_t *e, int field)
{
    return field_is_double(e, field) ? sizeof(double) : sizeof(int);
}

static void make_type(element_t *e)
{
    int ones[MAX_FIELDS] = {1, 1, 1};
    MPI_Datatype types[MAX_FIELDS], bare;
    for (int f = 0; f < e->fields; f++) {
        types[f] = field_is_double(e, f) ? MPI_DOUBLE : MPI_INT;
    }
    MPI_Type_create_struct(e->fields, ones, e->at, types, &bare);
    MPI_Type_create_resized(bare, e->low, e->extent, &e->type);
    MPI_Type_commit(&e->type);
    MPI_Type_free(&bare);
}

static bool is_predefined(const element_t *e)
{
    return e->type == MPI_INT || e->type == MPI_DOUBLE ||
           e->type == MPI_DOUBLE_INT;
}

static const element_t *find(MPI_Datatype type)
{
    for (int k = 0; k < ELEMENTS; k++) {
        if (elements[k].type == type) {
            return &elements[k];
        }
    }
    MPI_Abort(MPI_COMM_WORLD, 4);
    return NULL;
}

static uint32_t *field_of(const element_t *e, void *buffer, int k, int field)
{
    return (void *)((char *)buffer + e->extent * k + e->at[field]);
}

static void affine(void *left, void *right, int *count, MPI_Datatype *type)
{
    const element_t *e = find(*type);
    for (int k = 0; k < *count; k++) {
        const uint32_t *a = field_of(e, left, k, 0);
        const uint32_t *b = field_of(e, left, k, 1);
        uint32_t *c = field_of(e, right, k, 0), *d = field_of(e, right, k, 1);
        *d = *a * *d + *b;
        *c = *a * *c;
    }
}

static void add(void *left, void *right, int *count, MPI_Datatype *type)
{
    const element_t *e = find(*type);
    for (int k = 0; k < *count; k++) {
        for (int f = 0; f < e->fields; f++) {
            *field_of(e, right, k, f) += *field_of(e, left, k, f);
        }
    }
}

int elements_begin(void)
{
    for (int k = 0; k < ELEMENTS; k++) {
        element_t *e = &elements[k];
        if (strcmp(e->name, "int") == 0) {
            e->type = MPI_INT;
        } else if (strcmp(e->name, "double") == 0) {
            e->type = MPI_DOUBLE;
        } else if (strcmp(e->name, "double_int") == 0) {
            e->type = MPI_DOUBLE_INT;
        } else {
            make_type(e);
        }
    }
    MPI_Op_create(affine, 0, &op_affine);
    MPI_Op_create(add, 1, &op_add);
    return ELEMENTS;
}

const element_t *element(int index)
{
    return &elements[index];
}

void elements_end(void)
{
    for (int k = 0; k < ELEMENTS; k++) {
        if (!is_predefined(&elements[k])) {
            MPI_Type_free(&elements[k].type);
        }
    }
    MPI_Op_free(&op_affine);
    MPI_Op_free(&op_add);
}

/** First and last byte of the fields of one element. */
static void bounds(const element_t *e, MPI_Aint *first, MPI_Aint *end)
{
    *first = *end = e->at[0];
    for (int f = 0; f < e->fields; f++) {
        MPI_Aint last = e->at[f] + (MPI_Aint)field_size(e, f);
        *first = e->at[f] < *first ? e->at[f] : *first;
        *end = last > *end ? last : *end;
    }
}

region_t region_make(const element_t *e, int count, uint64_t seed, bool small)
{
    MPI_Aint first = 0, end = 0;
    if (count > 0) {
        MPI_Aint way = e->extent * (count - 1);
        bounds(e, &first, &end);
        first += way < 0 ? way : 0;
        end += way > 0 ? way : 0;
    }
    region_t region = {.element = e, .count = count};
    region.size = (size_t)(end - first) + 2 * GUARD;
    region.memory = realloc(NULL, region.size);
    region.origin = (char *)region.memory + GUARD - first;
    for (size_t b = 0; b < region.size; b++) {
        region.memory[b] = (unsigned char)iso_random_next(&seed);
    }
    for (int k = 0; k < count && e->family != INTS; k++) {
        double value = small ? iso_random_below(&seed, 5) - 2
                             : 2 * iso_random_uniform(&seed) - 1;
        memcpy(region.origin + e->extent * k + e->at[0], &value, sizeof(value));
    }
    return region;
}

region_t region_copy(const region_t *region)
{
    region_t copy = *region;
    copy.memory = realloc(NULL, region->size);
    memcpy(copy.memory, region->memory, region->size);
    copy.origin =
        (char *)copy.memory + (region->origin - (const char *)region->memory);
    return copy;
}

void region_free(region_t *region)
{
    free(region->memory);
}

bool region_equal(const region_t *a, const region_t *b)
{
    const element_t *e = a->element;
    if (e->exact_gaps) {
        return memcmp(a->memory, b->memory, a->size) == 0;
    }
    for (int k = 0; k < a->count; k++) {
        for (int f = 0; f < e->fields; f++) {
            MPI_Aint at = e->extent * k + e->at[f];
            if (memcmp(a->origin + at, b->origin + at, field_size(e, f)) != 0) {
                return false;
            }
        }
    }
    return memcmp(a->memory, b->memory, GUARD) == 0 &&
           memcmp(a->memory + a->size - GUARD, b->memory + a->size - GUARD,
                  GUARD) == 0;
}

void region_absolute(region_t *region)
{
    for (int k = 0; k < region->count; k++) {
        double *value = (void *)(region->origin + region->element->extent * k);
        *value = fabs(*value);
    }
}

bool region_close(const region_t *a, const region_t *b, const region_t *scale,
                  double factor)
{
    for (int k = 0; k < a->count; k++) {
        MPI_Aint at = a->element->extent * k;
        double x, y, s;
        memcpy(&x, a->origin + at, sizeof(x));
        memcpy(&y, b->origin + at, sizeof(y));
        memcpy(&s, scale->origin + at, sizeof(s));
        if (!(fabs(x - y) <= factor * s)) {
            return false;
        }
    }
    return true;
}
