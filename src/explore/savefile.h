/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A file that counts only as a whole.
 *
 * It is written under another name, forced to the disk, and then renamed. If the process is killed before
 * that, the old file is unchanged. A checksum at the end of the file shows whether it was cut off or changed.
 * Numbers are in the byte order of the machine. */
#ifndef EXPLORE_SAVEFILE_H
#define EXPLORE_SAVEFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SAVEFILE_BLOCK ((size_t)1 << 20)
#define SAVEFILE_PATH_MAX 1024

struct savefile_writer {
    int file;
    int error; /* errno of the first failure; 0 = none */
    uint64_t sum, size;
    size_t used;
    unsigned char *block; /* owned */
    char path[SAVEFILE_PATH_MAX];
};

/* Begins to write PATH.new. Failures here and later are told by savefile_finish(). */
void savefile_create(struct savefile_writer *writer, const char *path);

void savefile_put(struct savefile_writer *writer, const void *bytes, size_t size);
void savefile_put_number(struct savefile_writer *writer, uint64_t number);

/* Writes `size`, and then the bytes. */
void savefile_put_bytes(struct savefile_writer *writer, const void *bytes, size_t size);

/* Gives the file the name PATH, and frees the memory. Returns 0, or -1 with errno set. After -1 the old file
 * is unchanged, unless only forcing the new name to the disk has failed. */
int savefile_finish(struct savefile_writer *writer);

struct savefile_reader {
    int file;
    bool failed;     /* a read or a take has failed: all later ones fail too */
    uint64_t left;   /* bytes that are not taken yet, without the checksum */
    uint64_t unread; /* of these, the bytes that are not in `block` yet */
    uint64_t sum;
    size_t at, used;      /* index in `block` of the next byte; bytes in `block` */
    unsigned char *block; /* owned */
};

/* Opens a file. Returns 0, or -1 with errno set (EBADMSG: no regular file, or too short). */
int savefile_open(struct savefile_reader *reader, const char *path);

/* Takes exactly `size` bytes. If that fails, returns false, and from then on always. */
bool savefile_take(struct savefile_reader *reader, void *bytes, size_t size);
bool savefile_take_number(struct savefile_reader *reader, uint64_t *number);

/* Takes the bytes of savefile_put_bytes(), to be freed, with a 0 behind them that *size does not count. NULL
 * if fewer bytes are left, the file cannot be read, or memory is short. */
unsigned char *savefile_take_bytes(struct savefile_reader *reader, size_t *size);

/* Reads the rest, and closes the file. Returns true if nothing has failed and the checksum is right. */
bool savefile_close(struct savefile_reader *reader);

#endif
