/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file filesystem.h
 * Which file system a file is on, by the number that statfs(2) has for it.
 */
#ifndef ISO_FILESYSTEM_H
#define ISO_FILESYSTEM_H

/**
 * Return its name (tmpfs, nfs, lustre ...), "other", or "" if it is not known.
 *
 * @param path  as MPI_File_open takes it, perhaps with "ufs:" in front
 */
const char *iso_filesystem_of(const char *path);

#endif
