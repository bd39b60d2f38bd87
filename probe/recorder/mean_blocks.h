/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file mean_blocks.h
 * Mean block of calls with a count for each rank: included with COUNT and TYPE,
 * the types of counts and datatypes, and IN_C(type), which gives the datatype.
 */
/** Mean block of those that a rank exchanges with @a n others. */
static int64_t mean_block(const COUNT *counts, int n, TYPE type)
{
    int64_t sum = 0;
    for (int k = 0; k < n; k++) {
        sum += counts[k];
    }
    return n ? iso_bytes(sum, IN_C(type)) / n : 0;
}

static int64_t mean_of_types(const COUNT *counts, int n, const TYPE *types)
{
    int64_t sum = 0;
    for (int k = 0; k < n; k++) {
        sum += iso_bytes(counts[k], IN_C(types[k]));
    }
    return n ? sum / n : 0;
}
