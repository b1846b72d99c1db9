/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "explore/savefile.h"

#include "base/assert.h"
#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUM_BYTES sizeof(uint64_t)
#define NEW ".new"

/* Returns the checksum with a block added: a hash of its bytes and its size. Pads the block with zeros to a
 * multiple of 8 bytes before. */
static uint64_t sum_block(unsigned char *block, size_t size, uint64_t before)
{
    LS_ASSERT(size <= SAVEFILE_BLOCK);
    size_t padded = (size + 7) & ~(size_t)7;
    memset(block + size, 0, padded - size);
    return hash_mix(hash_bytes(block, padded, before) ^ size);
}

static void new_name(const struct savefile_writer *writer, char name[SAVEFILE_PATH_MAX + sizeof NEW])
{
    snprintf(name, SAVEFILE_PATH_MAX + sizeof NEW, "%s" NEW, writer->path);
}

static void note_error(struct savefile_writer *writer, int error)
{
    LS_ASSERT(error != 0);
    writer->error = writer->error != 0 ? writer->error : error;
}

void savefile_create(struct savefile_writer *writer, const char *path)
{
    char name[SAVEFILE_PATH_MAX + sizeof NEW];
    *writer = (struct savefile_writer){.file = -1};
    int size = snprintf(writer->path, sizeof writer->path, "%s", path);
    if (size >= (int)sizeof writer->path) {
        note_error(writer, ENAMETOOLONG);
        return;
    }
    new_name(writer, name);
    writer->block = malloc(SAVEFILE_BLOCK);
    writer->file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (writer->block == NULL || writer->file < 0) {
        note_error(writer, writer->block == NULL ? ENOMEM : errno);
    }
}

static void write_out(struct savefile_writer *writer, const unsigned char *bytes, size_t size)
{
    while (size > 0 && writer->error == 0) {
        ssize_t written = write(writer->file, bytes, size);
        if (written < 0 && errno != EINTR) {
            note_error(writer, errno);
        } else if (written > 0) {
            bytes += written;
            size -= (size_t)written;
        }
    }
}

static void end_block(struct savefile_writer *writer)
{
    LS_ASSERT(writer->used <= SAVEFILE_BLOCK);
    if (writer->error == 0 && writer->used > 0) {
        write_out(writer, writer->block, writer->used);
        writer->sum = sum_block(writer->block, writer->used, writer->sum);
        writer->used = 0;
    }
}

void savefile_put(struct savefile_writer *writer, const void *bytes, size_t size)
{
    const unsigned char *from = bytes;
    writer->size += size;
    while (size > 0 && writer->error == 0) {
        LS_ASSERT(writer->used < SAVEFILE_BLOCK);
        size_t room = SAVEFILE_BLOCK - writer->used;
        size_t part = size < room ? size : room;
        memcpy(writer->block + writer->used, from, part);
        writer->used += part;
        from += part;
        size -= part;
        if (writer->used == SAVEFILE_BLOCK) {
            end_block(writer);
        }
    }
}

void savefile_put_number(struct savefile_writer *writer, uint64_t number)
{
    savefile_put(writer, &number, sizeof number);
}

void savefile_put_bytes(struct savefile_writer *writer, const void *bytes, size_t size)
{
    savefile_put_number(writer, size);
    savefile_put(writer, bytes, size);
}

/* Forces the folder of a file to the disk: only then the file's new name is there too. Returns 0, or -1 with
 * errno set. */
static int sync_folder(const char *path)
{
    char folder[SAVEFILE_PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash == NULL) {
        snprintf(folder, sizeof folder, ".");
    } else {
        slash[slash == folder] = 0;
    }
    int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int result = file >= 0 ? fsync(file) : -1;
    if (file >= 0) {
        close(file);
    }
    return result;
}

static void force_to_disk(struct savefile_writer *writer)
{
    if (writer->error == 0 && fsync(writer->file) != 0) {
        note_error(writer, errno);
    }
    if (writer->error == 0) {
        posix_fadvise(writer->file, 0, 0,
                      POSIX_FADV_DONTNEED); /* else the page cache takes memory from the search */
    }
}

int savefile_finish(struct savefile_writer *writer)
{
    char name[SAVEFILE_PATH_MAX + sizeof NEW];
    new_name(writer, name);
    end_block(writer);
    uint64_t sum = writer->sum;
    write_out(writer, (const unsigned char *)&sum, sizeof sum);
    force_to_disk(writer);
    if (writer->file >= 0 && close(writer->file) != 0) {
        note_error(writer, errno);
    }
    free(writer->block);
    if (writer->error == 0 && (rename(name, writer->path) != 0 || sync_folder(writer->path) != 0)) {
        note_error(writer, errno);
    }
    if (writer->error != 0) {
        if (writer->file >= 0) {
            unlink(name);
        }
        errno = writer->error;
        return -1;
    }
    return 0;
}

static int open_regular(struct savefile_reader *reader, const char *path)
{
    struct stat status;
    reader->file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (reader->file < 0 || fstat(reader->file, &status) != 0) {
        return -1;
    }
    if (!S_ISREG(status.st_mode) || status.st_size < (off_t)SUM_BYTES) {
        errno = EBADMSG;
        return -1;
    }
    reader->left = reader->unread = (uint64_t)status.st_size - SUM_BYTES;
    return 0;
}

int savefile_open(struct savefile_reader *reader, const char *path)
{
    *reader = (struct savefile_reader){.file = -1};
    int result = open_regular(reader, path);
    if (result == 0) {
        reader->block = malloc(SAVEFILE_BLOCK);
        result = reader->block != NULL ? 0 : -1;
        errno = ENOMEM;
    }
    if (result != 0) {
        int error = errno;
        if (reader->file >= 0) {
            close(reader->file);
        }
        errno = error;
    }
    return result;
}

static bool read_in(struct savefile_reader *reader, unsigned char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t got = read(reader->file, bytes, size);
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return false;
        }
        if (got > 0) {
            bytes += got;
            size -= (size_t)got;
        }
    }
    return true;
}

static bool next_block(struct savefile_reader *reader)
{
    size_t size = reader->unread < SAVEFILE_BLOCK ? (size_t)reader->unread : SAVEFILE_BLOCK;
    if (reader->failed || size == 0 || !read_in(reader, reader->block, size)) {
        reader->failed = true;
        return false;
    }
    reader->unread -= size;
    reader->sum = sum_block(reader->block, size, reader->sum);
    reader->at = 0;
    reader->used = size;
    return true;
}

bool savefile_take(struct savefile_reader *reader, void *bytes, size_t size)
{
    unsigned char *to = bytes;
    if (reader->failed || size > reader->left) {
        reader->failed = true;
        return false;
    }
    while (size > 0) {
        if (reader->at == reader->used && !next_block(reader)) {
            return false;
        }
        size_t there = reader->used - reader->at;
        size_t part = size < there ? size : there;
        memcpy(to, reader->block + reader->at, part);
        reader->at += part;
        reader->left -= part;
        to += part;
        size -= part;
    }
    return true;
}

bool savefile_take_number(struct savefile_reader *reader, uint64_t *number)
{
    *number = 0;
    return savefile_take(reader, number, sizeof *number);
}

unsigned char *savefile_take_bytes(struct savefile_reader *reader, size_t *size)
{
    uint64_t wanted;
    if (!savefile_take_number(reader, &wanted) || wanted > reader->left) {
        reader->failed = true;
        return NULL;
    }
    unsigned char *bytes = malloc((size_t)wanted + 1);
    if (bytes == NULL || !savefile_take(reader, bytes, (size_t)wanted)) {
        reader->failed = true;
        free(bytes);
        return NULL;
    }
    bytes[wanted] = 0;
    *size = (size_t)wanted;
    return bytes;
}

bool savefile_close(struct savefile_reader *reader)
{
    uint64_t sum = 0;
    bool whole = !reader->failed;
    while (whole && reader->unread > 0) {
        whole = next_block(reader);
    }
    whole = whole && read_in(reader, (unsigned char *)&sum, sizeof sum) && sum == reader->sum;
    close(reader->file);
    free(reader->block);
    return whole;
}
