/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A file that is not whole is refused, and an old file stays until the new one is complete. */
#include "explore/savefile.h"

#include "base/hash.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define NUMBERS 400000u /* more than three blocks */

static char folder[] = "/tmp/savefile.XXXXXX";
static char path[64];

static int make_folder(void **state)
{
    (void)state;
    int result = mkdtemp(folder) != NULL ? 0 : -1;
    snprintf(path, sizeof path, "%s/file", folder);
    return result;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder); /* fails if another file is left */
}

static void write_numbers(uint64_t count)
{
    struct savefile_writer file;
    savefile_create(&file, path);
    savefile_put_bytes(&file, "name", 4);
    savefile_put_number(&file, count);
    for (uint64_t i = 0; i < count; i++) {
        savefile_put_number(&file, hash_mix(i));
    }
    assert_int_equal(savefile_finish(&file), 0);
}

/* Reads the whole file, and checks its numbers. Returns false if the file is refused. */
static bool read_numbers(uint64_t wanted)
{
    struct savefile_reader file;
    uint64_t count = 0, number;
    size_t size = 0;
    bool same = true;
    if (savefile_open(&file, path) != 0) {
        assert_int_equal(errno, EBADMSG);
        return false;
    }
    unsigned char *name = savefile_take_bytes(&file, &size);
    savefile_take_number(&file, &count);
    for (uint64_t i = 0; i < count && savefile_take_number(&file, &number); i++) {
        same = same && number == hash_mix(i);
    }
    same = same && name != NULL && size == 4 && strcmp((char *)name, "name") == 0 && count == wanted;
    free(name);
    bool whole = savefile_close(&file);
    assert_true(same || !whole);
    return whole;
}

static void test_what_is_written_is_read(void **state)
{
    (void)state;
    for (uint64_t count = 0; count < 20; count++) {
        write_numbers(count);
        assert_true(read_numbers(count));
    }
    write_numbers(NUMBERS);
    assert_true(read_numbers(NUMBERS));
}

static void change_byte(long at, int bits)
{
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    fseek(file, at, SEEK_SET);
    int byte = fgetc(file);
    fseek(file, at, SEEK_SET);
    fputc(byte ^ bits, file);
    fclose(file);
}

static long size_of_file(void)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return (long)status.st_size;
}

static void test_every_changed_bit_shows(void **state)
{
    (void)state;
    write_numbers(40);
    long size = size_of_file();
    for (long at = 0; at < size; at++) {
        for (int bit = 0; bit < 8; bit++) {
            change_byte(at, 1 << bit);
            assert_false(read_numbers(40));
            change_byte(at, 1 << bit);
        }
    }
    assert_true(read_numbers(40));
    write_numbers(NUMBERS);
    size = size_of_file();
    for (long at = 5; at < size; at += size / 50) {
        change_byte(at, 0x10);
        assert_false(read_numbers(NUMBERS));
        change_byte(at, 0x10);
    }
    assert_true(read_numbers(NUMBERS));
}

static void test_every_shorter_file_shows(void **state)
{
    (void)state;
    write_numbers(40);
    for (long size = size_of_file() - 1; size >= 0; size--) {
        assert_int_equal(truncate(path, size), 0);
        assert_false(read_numbers(40));
    }
    write_numbers(NUMBERS);
    assert_int_equal(truncate(path, (off_t)SAVEFILE_BLOCK), 0);
    assert_false(read_numbers(NUMBERS));
    assert_int_equal(truncate(path, (off_t)SAVEFILE_BLOCK + 8), 0);
    assert_false(read_numbers(NUMBERS));
}

/* A file may claim that more bytes follow than there are. */
static void test_lengths_are_not_believed(void **state)
{
    (void)state;
    static const uint64_t LENGTHS[] = {9, 1u << 30, UINT64_MAX, UINT64_MAX - 7, (uint64_t)1 << 63};
    struct savefile_reader file;
    uint64_t number;
    size_t size;
    for (size_t i = 0; i < sizeof LENGTHS / sizeof LENGTHS[0]; i++) {
        struct savefile_writer writer;
        savefile_create(&writer, path);
        savefile_put_number(&writer, LENGTHS[i]);
        savefile_put_number(&writer, 1);
        assert_int_equal(savefile_finish(&writer), 0);
        assert_int_equal(savefile_open(&file, path), 0);
        assert_null(savefile_take_bytes(&file, &size));
        assert_false(savefile_take_number(&file, &number));
        assert_false(savefile_close(&file));
    }
}

/* The old file is there until a new one is finished, and stays if the new one cannot be finished. */
static void test_the_old_file_stays(void **state)
{
    (void)state;
    struct savefile_writer file;
    write_numbers(3);
    savefile_create(&file, path);
    for (uint64_t i = 0; i < NUMBERS; i++) {
        savefile_put_number(&file, i);
        if (i % 100000 == 0) {
            assert_true(read_numbers(3));
        }
    }
    close(file.file); /* as if the disk had gone */
    assert_int_equal(savefile_finish(&file), -1);
    assert_int_equal(errno, EBADF);
    assert_true(read_numbers(3));
    savefile_create(&file, "/nowhere/at/all");
    savefile_put_number(&file, 1);
    assert_int_equal(savefile_finish(&file), -1);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(savefile_open(&(struct savefile_reader){0}, "/nowhere/at/all"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_written_is_read),  cmocka_unit_test(test_every_changed_bit_shows),
        cmocka_unit_test(test_every_shorter_file_shows), cmocka_unit_test(test_lengths_are_not_believed),
        cmocka_unit_test(test_the_old_file_stays),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
