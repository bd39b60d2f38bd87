/* SPDX-License-Identifier: BSD-3-Clause */
#include "io_recorder/view.h"

#include "io_recorder/flat_type.h"

#include <string.h>

iso_view_t iso_view_of_all(void)
{
    iso_view_t view = {.etype = 1, .extent = 1, .known = true};
    iso_pieces_add(&view.tile, 0, 1, 1, 0);
    iso_pieces_end(&view.tile);
    return view;
}

iso_view_t iso_view_made(MPI_Offset displacement, MPI_Datatype etype,
                         MPI_Datatype filetype, const char *representation)
{
    iso_view_t view = {.displacement = displacement,
                       .etype = iso_type_size(etype),
                       .extent = iso_type_extent(filetype)};
    view.known = iso_type_flatten(filetype, &view.tile) &&
                 strcmp(representation, "external32") != 0;
    return view;
}

/** Whether the view leaves nothing out. */
static bool is_dense(const iso_view_t *view)
{
    const iso_pieces_t *tile = &view->tile;
    return tile->used == 1 && tile->runs[0].count == 1 &&
           tile->bytes == view->extent;
}

void iso_view_access(const iso_view_t *view, int64_t first, int64_t bytes,
                     iso_pieces_t *list)
{
    const iso_pieces_t *tile = &view->tile;
    int64_t size = tile->bytes, at = view->displacement;
    if (is_dense(view)) {
        iso_pieces_add(list, at + tile->runs[0].offset + first, bytes, 1, 0);
    } else if (size > 0) {
        int64_t end = first + bytes, copy = first / size, last = end / size;
        if (copy < last && first % size) {
            iso_pieces_add_part(list, tile, at + copy * view->extent,
                                first % size, size);
            copy++;
            first = copy * size;
        }
        iso_pieces_repeat(list, tile, at + copy * view->extent, last - copy,
                          view->extent);
        first = copy < last ? last * size : first;
        iso_pieces_add_part(list, tile, at + last * view->extent, first % size,
                            first % size + end - first);
    }
    iso_pieces_end(list);
}

int64_t iso_view_pieces(const iso_view_t *view, int64_t bytes)
{
    const iso_pieces_t *tile = &view->tile;
    if (bytes == 0 || is_dense(view) || tile->bytes == 0) {
        return bytes > 0;
    }
    int64_t pieces = (double)tile->pieces * bytes / tile->bytes + 0.5;
    return pieces > 0 ? pieces : 1;
}

int64_t iso_view_span(const iso_view_t *view, int64_t bytes)
{
    int64_t size = view->tile.bytes;
    return size > 0 ? (double)view->extent * bytes / size : bytes;
}

int64_t iso_view_place(const iso_view_t *view, int64_t first)
{
    iso_pieces_t list = {0};
    iso_view_access(view, first, 1, &list);
    int64_t place = list.used ? list.runs[0].offset : view->displacement;
    iso_pieces_free(&list);
    return place;
}

void iso_view_free(iso_view_t *view)
{
    iso_pieces_free(&view->tile);
}
