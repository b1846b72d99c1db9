/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The judge of the real runs must itself be judged: journals with known faults, and the fenced counter alone.
 */
#include "stage.h"

#include "real/audit.h"

#include <sys/stat.h>
#include <unistd.h>

static struct real_audit audit;

static int set_up(void **state)
{
    (void)state;
    real_audit_init(&audit);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    real_audit_close(&audit);
    return 0;
}

static void take(enum real_kind kind, int slot, uint64_t id)
{
    struct real_line line = {.kind = kind, .slot = slot, .id = id, .token = (int64_t)id};
    assert_int_equal(real_audit_take(&audit, &line), 0);
}

static void begin_write(int slot, uint64_t id, uint64_t basis, int64_t value)
{
    struct real_line line = {.kind = REAL_WRITES, .slot = slot, .id = id, .basis = basis, .value = value};
    assert_int_equal(real_audit_take(&audit, &line), 0);
}

static void write_all(int slot, uint64_t id, uint64_t basis, int64_t value)
{
    begin_write(slot, id, basis, value);
    take(REAL_WROTE, slot, id);
}

static void settle(int64_t value, uint64_t writer)
{
    struct real_record counter = {.value = value, .writer = writer};
    real_audit_settle(&audit, &counter);
}

static void test_overlaps(void **state)
{
    (void)state;
    take(REAL_ENTER, 0, 1);
    take(REAL_LEAVE, 0, 1);
    take(REAL_ENTER, 1, 2);
    assert_int_equal(audit.overlaps, 0);
    take(REAL_KILLED, 1, 0); /* the dead are not inside */
    take(REAL_ENTER, 0, 3);
    assert_int_equal(audit.overlaps, 0);
    take(REAL_ENTER, 1, 4);
    assert_int_equal(audit.overlaps, 1);
    take(REAL_ENTER, 2, 5); /* two are inside already */
    assert_int_equal(audit.overlaps, 3);
    assert_int_equal(audit.sections, 5);
    assert_true(audit.token_max == 5);
}

static void test_chain(void **state)
{
    (void)state;
    write_all(0, 10, 0, 1);
    write_all(1, 5, 10, 2); /* ids are in no order */
    begin_write(0, 11, 5, 3);
    take(REAL_KILLED, 0, 0); /* before it heard of its write */
    write_all(1, 6, 11, 4);
    begin_write(2, 12, 6, 5);
    take(REAL_KILLED, 2, 0); /* before it wrote */
    settle(4, 6);
    assert_true(audit.sound);
    assert_int_equal(audit.wrote, 3);
    assert_int_equal(audit.lost, 0);
    assert_int_equal(audit.unheard, 1);
}

static void test_lost_update(void **state)
{
    (void)state;
    write_all(0, 1, 0, 1);
    write_all(1, 2, 1, 2);
    write_all(2, 3, 1, 2); /* built on the first, over the second */
    settle(2, 3);
    assert_true(audit.sound);
    assert_int_equal(audit.lost, 1);
}

static void test_unsound_counters(void **state)
{
    (void)state;
    write_all(0, 1, 0, 1);
    write_all(0, 2, 1, 2);
    settle(3, 2); /* another value than its writer wrote */
    assert_false(audit.sound);
    real_audit_close(&audit);
    write_all(0, 1, 0, 1);
    settle(1, 9); /* nobody wrote it */
    assert_false(audit.sound);
    assert_int_equal(audit.lost, 1);
    real_audit_close(&audit);
    write_all(0, 1, 2, 1);
    write_all(0, 2, 1, 2); /* in a circle */
    settle(2, 2);
    assert_false(audit.sound);
    real_audit_close(&audit);
    settle(0, 0); /* nothing was ever written */
    assert_true(audit.sound);
}

static void test_late_sections(void **state)
{
    (void)state;
    struct real_line line = {.kind = REAL_LEAVE, .value = 999};
    audit.late_ms = 1000;
    assert_int_equal(real_audit_take(&audit, &line), 0);
    assert_int_equal(audit.late, 0);
    line.value = 1000;
    assert_int_equal(real_audit_take(&audit, &line), 0);
    assert_int_equal(audit.late, 1);
}

static void test_impossible_lines(void **state)
{
    (void)state;
    struct real_line line = {.kind = REAL_WROTE, .id = 7};
    assert_int_equal(real_audit_take(&audit, &line), -1); /* it never began */
    line.slot = REAL_WORKERS_MAX;
    assert_int_equal(real_audit_take(&audit, &line), -1);
    line.slot = -1;
    assert_int_equal(real_audit_take(&audit, &line), -1);
}

/* ---- files ---- */

static char folder[1024];

static int make_folder(void **state)
{
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/real_audit.XXXXXX", base && *base ? base : P_tmpdir);
    return mkdtemp(folder) ? set_up(state) : -1;
}

static int remove_folder(void **state)
{
    char journal[1100];
    snprintf(journal, sizeof journal, "%s/journal", folder);
    unlink(journal);
    real_resource_remove(folder);
    tear_down(state);
    return rmdir(folder);
}

static void test_journal(void **state)
{
    (void)state;
    struct real_line line = {
        .kind = REAL_WRITES, .slot = 3, .incarnation = 2, .id = UINT64_MAX, .basis = 255};
    struct real_line found;
    struct real_reader reader = {.fd = real_journal_open(folder)};
    assert_true(reader.fd >= 0);
    assert_int_equal(real_reader_next(&reader, &found), 0);
    for (line.value = 0; line.value < 300; line.value++) { /* more than one buffer */
        line.token = -line.value;
        assert_int_equal(real_journal_write(reader.fd, &line), 0);
    }
    for (int64_t i = 0; i < 300; i++) {
        assert_int_equal(real_reader_next(&reader, &found), 1);
        assert_int_equal(found.kind, REAL_WRITES);
        assert_int_equal(found.slot, 3);
        assert_int_equal(found.incarnation, 2);
        assert_true(found.id == UINT64_MAX && found.basis == 255 && found.value == i && found.token == -i);
    }
    assert_int_equal(real_reader_next(&reader, &found), 0);
    assert_int_equal(write(reader.fd, "1 enters worker=1.1\n", 20), 20);
    assert_int_equal(real_reader_next(&reader, &found), -1);
    close(reader.fd);
}

static void test_fence(void **state)
{
    (void)state;
    struct real_resource fenced;
    struct real_record record, mine = {.value = 1, .writer = 50};
    assert_int_equal(real_resource_open(&fenced, folder, true), 0);
    assert_int_equal(real_resource_read(&fenced, 50, &record), REAL_ACCESS_OK);
    assert_true(record.value == 0 && record.writer == 0);
    assert_int_equal(real_resource_write(&fenced, 50, &mine), REAL_ACCESS_OK);
    assert_int_equal(real_resource_write(&fenced, 49, &mine), REAL_ACCESS_REFUSED);
    assert_int_equal(real_resource_read(&fenced, 49, &record), REAL_ACCESS_REFUSED);
    /* Reading with a larger token is enough to shut the older one out. */
    assert_int_equal(real_resource_read(&fenced, 51, &record), REAL_ACCESS_OK);
    assert_true(record.value == 1 && record.writer == 50);
    mine.value = 2;
    assert_int_equal(real_resource_write(&fenced, 50, &mine), REAL_ACCESS_REFUSED);
    assert_int_equal(real_resource_write(&fenced, 51, &mine), REAL_ACCESS_OK);
    assert_int_equal(real_resource_read(&fenced, 51, &record), REAL_ACCESS_OK);
    assert_true(record.value == 2 && record.token == 51);
    real_resource_close(&fenced);
}

/* What the strict run rests on: this one takes whatever comes. */
static void test_plain(void **state)
{
    (void)state;
    struct real_resource plain;
    struct real_record record, mine = {.value = 7, .writer = 8};
    assert_int_equal(real_resource_open(&plain, folder, false), 0);
    assert_int_equal(real_resource_write(&plain, 9, &mine), REAL_ACCESS_OK);
    assert_int_equal(real_resource_write(&plain, 3, &mine), REAL_ACCESS_OK);
    assert_int_equal(real_resource_read(&plain, 1, &record), REAL_ACCESS_OK);
    assert_true(record.value == 7 && record.writer == 8 && record.token == 0);
    real_resource_close(&plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_overlaps, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_chain, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lost_update, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_unsound_counters, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_late_sections, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_impossible_lines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_journal, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_fence, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_plain, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
