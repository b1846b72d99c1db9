/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A file that counts only as a whole.
 *
 * It is written in large blocks under another name, forced to the disk, and then renamed. If the process is
 * killed meanwhile, the old file is unchanged. A checksum over all bytes is at its end: a file that was cut
 * off or changed is detected. Numbers are in the byte order of the machine. */
#ifndef EXPLORE_SAVEFILE_H
#define EXPLORE_SAVEFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SAVEFILE_BLOCK ((size_t)1 << 20)
#define SAVEFILE_PATH_MAX 1024

/* ---- writing ---- */

struct savefile_writer {
    int file;
    int error; /* errno of the first failure; 0 = none */
    uint64_t sum, size;
    size_t used;
    unsigned char *block; /* owned */
    char path[SAVEFILE_PATH_MAX];
};

/* Begins to write PATH.new. savefile_finish() tells of failures here and later. */
void savefile_create(struct savefile_writer *writer, const char *path);

void savefile_put(struct savefile_writer *writer, const void *bytes, size_t size);
void savefile_put_number(struct savefile_writer *writer, uint64_t number);

/* Writes the number of bytes, and then the bytes. */
void savefile_put_bytes(struct savefile_writer *writer, const void *bytes, size_t size);

/* Gives the file the name PATH. Returns 0; or -1 with errno set, and the old file is unchanged. */
int savefile_finish(struct savefile_writer *writer);

/* ---- reading ---- */

struct savefile_reader {
    int file;
    bool failed;          /* the file ended too early, or could not be read */
    uint64_t left;        /* bytes that are not taken yet, without the checksum at the end */
    uint64_t unread;      /* of them, bytes that are not in the block yet */
    uint64_t sum;         /* of the bytes that were read */
    size_t at, used;      /* in the block */
    unsigned char *block; /* owned */
};

/* Opens a file to be read from its beginning. Returns 0, or -1 with errno set (EBADMSG: no regular file, too
 * short). */
int savefile_open(struct savefile_reader *reader, const char *path);

/* Takes exactly `size` bytes. Returns false if there are fewer, and from then on always. */
bool savefile_take(struct savefile_reader *reader, void *bytes, size_t size);
bool savefile_take_number(struct savefile_reader *reader, uint64_t *number);

/* Takes the bytes that savefile_put_bytes() wrote, and adds a 0 behind them, which *size does not count. The
 * caller owns them. NULL if there are fewer bytes, or memory is short. */
unsigned char *savefile_take_bytes(struct savefile_reader *reader, size_t *size);

/* Reads the rest and closes the file. Returns true if no take has failed and the checksum is right. */
bool savefile_close(struct savefile_reader *reader);

#endif
