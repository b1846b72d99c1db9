/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A file that is believed only as a whole.
 *
 * It is written in large pieces under another name, forced to the disk and then renamed: whoever is killed meanwhile, at
 * any moment, leaves the old file as it was. A sum over all bytes stands at its end, so that one that was cut off or
 * has changed is not taken for another. What lies in it is in the byte order of the machine. */
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
    int error; /* errno of the first thing that went wrong; 0 = nothing */
    uint64_t sum, size;
    size_t used;
    unsigned char *block; /* owned */
    char path[SAVEFILE_PATH_MAX];
};

/* Begins to write PATH.new. What goes wrong here and later is told by savefile_finish(). */
void savefile_create(struct savefile_writer *writer, const char *path);

void savefile_put(struct savefile_writer *writer, const void *bytes, size_t size);
void savefile_put_number(struct savefile_writer *writer, uint64_t number);

/* A number of bytes and the bytes. */
void savefile_put_bytes(struct savefile_writer *writer, const void *bytes, size_t size);

/* Makes it the file PATH. Returns 0; or -1 with errno set, and the old file as it was. */
int savefile_finish(struct savefile_writer *writer);

/* ---- reading ---- */

struct savefile_reader {
    int file;
    bool failed;          /* it ended too early, or could not be read */
    uint64_t left;        /* bytes behind those that were taken, without the sum at the end */
    uint64_t unread;      /* of them, bytes that are not in the block */
    uint64_t sum;         /* of what has been read */
    size_t at, used;      /* in the block */
    unsigned char *block; /* owned */
};

/* Opens a file to be read from its beginning. Returns 0, or -1 with errno set; EBADMSG = it is too short to be whole. */
int savefile_open(struct savefile_reader *reader, const char *path);

/* Takes exactly `size` bytes. False, from then on always, if there are fewer. */
bool savefile_take(struct savefile_reader *reader, void *bytes, size_t size);
bool savefile_take_number(struct savefile_reader *reader, uint64_t *number);

/* What savefile_put_bytes() wrote, with a 0 behind it that does not count; owned by the caller. NULL if there are fewer bytes,
 * or memory is short. */
unsigned char *savefile_take_bytes(struct savefile_reader *reader, size_t *size);

/* Reads what is left, closes, and says whether the file was whole: all could be taken, and the sum is right. */
bool savefile_close(struct savefile_reader *reader);

#endif
