/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "lock/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define A "_c_00000000-0000-0000-0000-00000000000a-lock-"
#define B "_c_00000000-0000-0000-0000-00000000000b-lock-"
#define C "_c_00000000-0000-0000-0000-00000000000c-lock-"

static void uuid_has_the_usual_groups(void **state)
{
    (void)state;
    uint8_t id[16];
    char prefix[LOCK_PREFIX_SIZE_MAX + 1];
    for (int i = 0; i < 16; i++)
        id[i] = (uint8_t)(i * 17);
    assert_int_equal(lock_names_prefix(LOCK_ROLE_MUTEX, prefix, id), 45);
    assert_string_equal(prefix, "_c_00112233-4455-6677-8899-aabbccddeeff-lock-");
    assert_int_equal(lock_names_prefix(LOCK_ROLE_READER, prefix, id), 48);
    assert_string_equal(prefix, "_c_00112233-4455-6677-8899-aabbccddeeff-__READ__");
    assert_int_equal(lock_names_prefix(LOCK_ROLE_WRITER, prefix, id), 48);
    assert_string_equal(prefix, "_c_00112233-4455-6677-8899-aabbccddeeff-__WRIT__");
    assert_int_equal(lock_names_size(LOCK_ROLE_MUTEX), 45 + 11);
    assert_int_equal(lock_names_size(LOCK_ROLE_WRITER), 48 + 11);
}

static void check_sequence(int32_t sequence, const char *text)
{
    char out[12];
    assert_int_equal(lock_names_sequence(out, sequence), strlen(text));
    assert_string_equal(out, text);
}

static void sequence_is_written_as_the_server_does(void **state)
{
    (void)state;
    check_sequence(0, "0000000000");
    check_sequence(7, "0000000007");
    check_sequence(INT32_MAX, "2147483647");
    check_sequence(-1, "-000000001");
    check_sequence(-999999999, "-999999999");
    check_sequence(-1000000000, "-1000000000");
    check_sequence(INT32_MIN, "-2147483648");
}

static void check_key_of(enum lock_role role, const char *name, enum lock_key kind, const char *expected)
{
    const char *key;
    assert_int_equal(lock_names_key(role, name, &key), kind);
    assert_string_equal(key, expected);
}

static void check_key(const char *name, enum lock_key kind, const char *expected)
{
    check_key_of(LOCK_ROLE_MUTEX, name, kind, expected);
}

static void key_is_the_text_after_the_last_lock(void **state)
{
    (void)state;
    check_key(A "0000000001", LOCK_KEY_CONTENDER, "0000000001");
    check_key("lock-0000000001", LOCK_KEY_CONTENDER, "0000000001");
    check_key("0000000001", LOCK_KEY_CONTENDER, "0000000001");
    check_key("lock-5-lock-0000000001", LOCK_KEY_CONTENDER, "0000000001");
    check_key("lock-lock-0000000001", LOCK_KEY_CONTENDER, "0000000001");
    check_key("xlock-0000000001", LOCK_KEY_CONTENDER, "0000000001");
    check_key("9999999999", LOCK_KEY_CONTENDER, "9999999999");
}

static void wrapped_sequences_are_told_apart(void **state)
{
    (void)state;
    check_key(A "-2147483648", LOCK_KEY_NEGATIVE, "-2147483648");
    check_key(A "-000000001", LOCK_KEY_NEGATIVE, "-000000001");
    check_key(A "-00000001", LOCK_KEY_BEFORE, "-00000001");
    check_key(A "-00000000001", LOCK_KEY_BEFORE, "-00000000001");
    check_key(A "-00000000x", LOCK_KEY_BEFORE, "-00000000x");
}

#define GUID "_c_00112233-4455-6677-8899-aabbccddeeff-"

/* Curator's read-write lock, semaphore and latch; the C client's recipe; kazoo's. */
static const char *const other_kinds[] = {GUID "__READ__0000000003",
                                          GUID "__WRIT__0000000003",
                                          GUID "lease-0000000003",
                                          GUID "latch-0000000003",
                                          "x-72057594037927936-0000000003",
                                          "f0112233445566778899aabbccddeeff__lock__0000000003",
                                          "a0112233445566778899aabbccddeeff__rlock__0000000003"};

static void contenders_of_other_kinds_are_foreign(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof other_kinds / sizeof *other_kinds; i++) {
        const char *names[] = {other_kinds[i], A "0000000001"};
        struct String_vector list = {.count = 2, .data = (char **)(uintptr_t)names};
        struct lock_view view;
        check_key(other_kinds[i], LOCK_KEY_KIND, other_kinds[i]);
        lock_names_view(LOCK_ROLE_MUTEX, &list, A, &view);
        assert_true(view.own && view.foreign);
        assert_null(view.ahead);
        names[0] = "content";
        lock_names_view(LOCK_ROLE_MUTEX, &list, A, &view);
        assert_false(view.foreign);
    }
}

static void foreign_children_are_sorted_as_curator_does(void **state)
{
    (void)state;
    check_key("content", LOCK_KEY_AFTER, "content");
    check_key("x-000000001", LOCK_KEY_AFTER, "x-000000001");
    check_key("Targets", LOCK_KEY_AFTER, "Targets");
    check_key(A, LOCK_KEY_BEFORE, "");
    check_key("42", LOCK_KEY_BEFORE, "42");
    check_key("00000000001", LOCK_KEY_BEFORE, "00000000001");
    check_key("000000000x", LOCK_KEY_BEFORE, "000000000x");
    check_key(".hidden", LOCK_KEY_BEFORE, ".hidden");
    check_key("\xc3\xa4", LOCK_KEY_AFTER, "\xc3\xa4");
}

static void created_paths_are_parsed(void **state)
{
    (void)state;
    int32_t sequence = 5;
    assert_true(lock_names_parse(LOCK_ROLE_MUTEX, "/locks/x/" A "0000000012", &sequence));
    assert_int_equal(sequence, 12);
    assert_true(lock_names_parse(LOCK_ROLE_MUTEX, "/lock-0000000001/" A "2147483647", &sequence));
    assert_int_equal(sequence, INT32_MAX);
    assert_true(lock_names_parse(LOCK_ROLE_MUTEX, "/x/" A "-2147483648", &sequence));
    assert_int_equal(sequence, INT32_MIN);
    assert_true(lock_names_parse(LOCK_ROLE_MUTEX, "/x/" A "-000000001", &sequence));
    assert_int_equal(sequence, -1);
    assert_false(lock_names_parse(LOCK_ROLE_MUTEX, "/x/" A "9999999999", &sequence));
    assert_false(lock_names_parse(LOCK_ROLE_MUTEX, "/x/" A, &sequence));
    assert_false(lock_names_parse(LOCK_ROLE_MUTEX, "/0000000001/x", &sequence));
    assert_int_equal(sequence, -1);
}

static struct lock_view view_of(const char *prefix, int count, const char *const *names)
{
    struct lock_view view;
    struct String_vector list = {.count = count, .data = (char **)(uintptr_t)names};
    lock_names_view(LOCK_ROLE_MUTEX, &list, prefix, &view);
    return view;
}

static void nearest_contender_is_ahead_in_any_order_of_the_list(void **state)
{
    (void)state;
    const char *names[] = {C "0000000003", B "0000000009", "content", A "0000000001"};
    for (int turn = 0; turn < 4; turn++) {
        const char *first = names[0];
        memmove(names, names + 1, 3 * sizeof names[0]);
        names[3] = first;
        struct lock_view view = view_of(B, 4, names);
        assert_true(view.own);
        assert_int_equal(view.sequence, 9);
        assert_string_equal(view.ahead, C "0000000003");
        assert_false(view.foreign || view.negative || view.last);
        view = view_of(A, 4, names);
        assert_true(view.own);
        assert_null(view.ahead);
    }
}

static void a_smaller_uuid_is_no_smaller_contender(void **state)
{
    (void)state;
    const char *names[] = {A "0000000002", B "0000000001"};
    assert_null(view_of(B, 2, names).ahead);
    assert_string_equal(view_of(A, 2, names).ahead, B "0000000001");
}

static void equal_sequences_are_ordered_by_name(void **state)
{
    (void)state;
    const char *names[] = {B "0000000001", A "0000000001"};
    assert_null(view_of(A, 2, names).ahead);
    assert_string_equal(view_of(B, 2, names).ahead, A "0000000001");
}

static void our_absence_is_seen(void **state)
{
    (void)state;
    const char *names[] = {A "0000000001"};
    struct lock_view view = view_of(B, 1, names);
    assert_false(view.own);
    assert_null(view.ahead);
    assert_false(view_of(B, 0, names).own);
}

static void oddities_are_noted(void **state)
{
    (void)state;
    const char *names[] = {A "0000000001", B "2147483647", "", C "-2147483648"};
    struct lock_view view = view_of(A, 4, names);
    assert_true(view.own && view.foreign && view.last && view.negative);
    assert_null(view.ahead);
    view = view_of(B, 2, names);
    assert_false(view.last); /* our own is no other's */
    assert_int_equal(view.sequence, INT32_MAX);
}

static void sorting_puts_contenders_first(void **state)
{
    (void)state;
    const char *names[] = {"content", C "0000000010", A "0000000009", "5", B "0000000001"};
    struct String_vector list = {.count = 5, .data = (char **)(uintptr_t)names};
    assert_int_equal(lock_names_sort(LOCK_ROLE_MUTEX, &list), 3);
    assert_string_equal(names[0], B "0000000001");
    assert_string_equal(names[1], A "0000000009");
    assert_string_equal(names[2], C "0000000010");
    assert_int_equal(list.count, 5);
    /* The others are still there: the client library frees all of them. */
    bool swapped = strcmp(names[3], "5") == 0;
    assert_string_equal(names[swapped ? 4 : 3], "content");
    assert_string_equal(names[swapped ? 3 : 4], "5");
}

#define READER(letter, number) "_c_00000000-0000-0000-0000-00000000000" letter "-__READ__" number
#define WRITER(letter, number) "_c_00000000-0000-0000-0000-00000000000" letter "-__WRIT__" number

/* Where the contender with this name stands in a line of readers and writers. */
static struct lock_view view_among(const char *name, int count, const char *const *names)
{
    struct lock_view view;
    struct String_vector list = {.count = count, .data = (char **)(uintptr_t)names};
    enum lock_role role = lock_names_is_writer(name) ? LOCK_ROLE_WRITER : LOCK_ROLE_READER;
    lock_names_view(role, &list, name, &view);
    return view;
}

static void readers_wait_for_the_nearest_writer(void **state)
{
    (void)state;
    const char *names[] = {READER("a", "0000000007"), WRITER("b", "0000000003"), READER("c", "0000000005"),
                           WRITER("d", "0000000004"), READER("e", "0000000001"), WRITER("f", "0000000006")};
    static const char *const ahead[] = {WRITER("f", "0000000006"),
                                        READER("e", "0000000001"),
                                        WRITER("d", "0000000004"),
                                        WRITER("b", "0000000003"),
                                        NULL,
                                        READER("c", "0000000005")};
    for (int i = 0; i < 6; i++) {
        struct lock_view view = view_among(names[i], 6, names);
        assert_true(view.own && !view.foreign && !view.last);
        assert_true(view.ahead ? strcmp(view.ahead, ahead[i]) == 0 : !ahead[i]);
    }
}

/* Whoever waits for a writer that has become a reader waits for that reader: it stands behind its writer. */
static void a_reader_in_the_place_of_its_writer_stands_behind_it(void **state)
{
    (void)state;
    const char *names[] = {READER("f", "0000000002"), WRITER("a", "0000000002"), WRITER("b", "0000000003"),
                           READER("c", "0000000004")};
    assert_string_equal(view_among(names[2], 4, names).ahead, names[0]);
    assert_string_equal(view_among(names[3], 4, names).ahead, names[2]);
    assert_null(view_among(names[1], 4, names).ahead);
    assert_string_equal(view_among(names[0], 4, names).ahead, names[1]);
    struct String_vector list = {.count = 4, .data = (char **)(uintptr_t)names};
    assert_int_equal(lock_names_sort(LOCK_ROLE_READER, &list), 4);
    assert_string_equal(names[0], WRITER("a", "0000000002"));
    assert_string_equal(names[1], READER("f", "0000000002"));
    assert_string_equal(names[3], READER("c", "0000000004"));
}

static void check_among(const char *name, enum lock_key kind, const char *expected)
{
    check_key_of(LOCK_ROLE_WRITER, name, kind, expected);
}

/* Curator takes the text behind the last __READ__, and of that what is behind the last __WRIT__. */
static void keys_of_readers_and_writers(void **state)
{
    (void)state;
    check_among(READER("a", "0000000001"), LOCK_KEY_CONTENDER, "0000000001");
    check_among("__WRIT__0000000002", LOCK_KEY_CONTENDER, "0000000002");
    check_among("x__READ__y__WRIT__0000000003", LOCK_KEY_CONTENDER, "0000000003");
    check_among("x__WRIT__y__READ__0000000004", LOCK_KEY_CONTENDER, "0000000004");
    check_among("_____READ__0000000005", LOCK_KEY_CONTENDER, "0000000005");
    check_among(WRITER("a", "-000000001"), LOCK_KEY_NEGATIVE, "-000000001");
    check_among(WRITER("a", ""), LOCK_KEY_BEFORE, "");
    check_among("__READ0000000001", LOCK_KEY_KIND, "__READ0000000001");
    check_among(A "0000000001", LOCK_KEY_KIND, A "0000000001");
    check_among("content", LOCK_KEY_AFTER, "content");
    check_key(READER("a", "0000000001"), LOCK_KEY_KIND, READER("a", "0000000001"));
    int32_t sequence;
    assert_true(lock_names_parse(LOCK_ROLE_READER, "/x/" READER("a", "0000000012"), &sequence));
    assert_int_equal(sequence, 12);
    assert_false(lock_names_parse(LOCK_ROLE_READER, "/x/" A "0000000012", &sequence));
}

enum { CROWD = 50000 };

/* Contenders with the sequences 0 .. count - 1 in an order that is neither up nor down. */
static char **make_crowd(int count)
{
    char **names = calloc((size_t)count, sizeof *names);
    assert_non_null(names);
    for (int i = 0; i < count; i++) {
        char name[64];
        snprintf(name, sizeof name, A "%010d", (int)((int64_t)i * 7919 % count));
        names[i] = strdup(name);
        assert_non_null(names[i]);
    }
    return names;
}

static void check_crowd(int count)
{
    char **names = make_crowd(count);
    struct String_vector list = {.count = count, .data = names};
    assert_int_equal(lock_names_sort(LOCK_ROLE_MUTEX, &list), count);
    for (int i = 0; i < count; i++) {
        char name[64];
        snprintf(name, sizeof name, A "%010d", i);
        assert_string_equal(names[i], name);
        free(names[i]);
    }
    free(names);
}

static void every_length_is_sorted(void **state)
{
    (void)state;
    for (int count = 1; count < 40; count++)
        check_crowd(count);
}

static clock_t time_of_crowd(int count)
{
    clock_t began = clock();
    check_crowd(count);
    return clock() - began;
}

/* The environment's mutex is held meanwhile. An insertion sort takes half a minute for these names, a hundred times as long
 * as for a tenth of them. */
static void time_for_a_crowd_grows_slowly(void **state)
{
    (void)state;
    clock_t tenth = time_of_crowd(CROWD / 10);
    for (int i = 0; i < 2; i++) {
        clock_t again = time_of_crowd(CROWD / 10);
        tenth = again < tenth ? again : tenth;
    }
    assert_true(time_of_crowd(CROWD) < 40 * tenth);
}

static void names_that_are_unread(void **state)
{
    (void)state;
    const uint8_t id[16] = {[15] = 0xff}; /* as of A and B, but for its last bytes */
    static const char mine[] = A "0000000004";
    static const char other[] = "_c_01000000-0000-0000-0000-00000000000a-lock-0000000003";
    static const char behind[] = "_c_01000000-0000-0000-0000-00000000000a-lock-0000000005";
    static const char before[] = "_c_01000000-0000-0000-0000-00000000000a-lock-0000000001";
    const char *names[] = {behind, mine, other, before, "content"};
    bool unread[5];
    struct String_vector list = {.count = 5, .data = (char **)(uintptr_t)names};
    lock_names_unread(LOCK_ROLE_MUTEX, &list, id, unread);
    const bool expected[] = {true, false, false, true, false};
    assert_memory_equal(unread, expected, sizeof unread);
    names[1] = other; /* who is not there has nobody before him */
    lock_names_unread(LOCK_ROLE_MUTEX, &list, id, unread);
    const bool without[] = {true, true, true, true, false};
    assert_memory_equal(unread, without, sizeof unread);
}

static uint32_t draw(uint32_t *seed, uint32_t below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 16) % below;
}

/* Each of several attempts sees the same with and without the names that no attempt of its process looks at. */
static void unread_names_make_no_difference(void **state)
{
    (void)state;
    static const char *const MINE[] = {A, B, C};
    static const char *const OTHERS[] = {"_c_01000000-0000-0000-0000-000000000001-lock-",
                                         "_c_ffffffff-0000-0000-0000-000000000001-lock-", "lock-"};
    static const char *const KEYS[] = {"0000000001", "0000000002", "0000000003", "0000000004",
                                       "0000000005", "2147483647", "-000000001", "x"};
    const uint8_t id[16] = {0};
    int dropped = 0;
    for (uint32_t turn = 0, seed = 1; turn < 20000; turn++) {
        char name[8][LOCK_NAME_SIZE_MAX];
        const char *all[8], *read[8];
        bool unread[8];
        int count = 0, left = 0;
        for (uint32_t key = 0; key < 8; key++) {
            const char *const *from = draw(&seed, 3) == 0 ? MINE : OTHERS;
            if (draw(&seed, key < 5 ? 4 : 16) != 0)
                continue;
            snprintf(name[count], sizeof name[count], "%s%s", from[draw(&seed, 3)], KEYS[key]);
            all[count] = name[count];
            count++;
        }
        struct String_vector list = {.count = count, .data = (char **)(uintptr_t)all};
        lock_names_unread(LOCK_ROLE_MUTEX, &list, id, unread);
        for (int i = 0; i < count; i++)
            if (!unread[i])
                read[left++] = all[i];
        dropped += count - left;
        for (int i = 0; i < 3; i++) {
            struct lock_view whole = view_of(MINE[i], count, all);
            struct lock_view part = view_of(MINE[i], left, read);
            if (!whole.own)
                whole.ahead = part.ahead = NULL; /* nobody asks then */
            assert_memory_equal(&whole, &part, sizeof whole);
        }
    }
    assert_true(dropped > 10000);
}

/* The same of readers and writers, and of the writers of the process, in whose place its readers may stand. */
static void unread_names_of_readers_and_writers_make_no_difference(void **state)
{
    (void)state;
    static const char *const IDS[] = {
        "_c_00000000-0000-0000-0000-00000000000a-", "_c_00000000-0000-0000-0000-00000000000b-",
        "_c_01000000-0000-0000-0000-000000000001-", "_c_ffffffff-0000-0000-0000-000000000001-"};
    const uint8_t id[16] = {0};
    int dropped = 0;
    for (uint32_t turn = 0, seed = 1; turn < 20000; turn++) {
        char name[8][LOCK_NAME_SIZE_MAX];
        const char *all[8], *read[8];
        bool unread[8];
        int left = 0;
        for (int i = 0; i < 8; i++) {
            uint32_t owner = draw(&seed, 4);
            const char *mark = draw(&seed, 2) ? "__READ__" : "__WRIT__";
            snprintf(name[i], sizeof name[i], "%s%s%010d", IDS[owner], mark, i);
            all[i] = name[i];
        }
        struct String_vector list = {.count = 8, .data = (char **)(uintptr_t)all};
        lock_names_unread(LOCK_ROLE_READER, &list, id, unread);
        for (int i = 0; i < 8; i++)
            if (!unread[i])
                read[left++] = all[i];
        dropped += 8 - left;
        for (int i = 0; i < 8; i++) {
            if (all[i][3] != '0' || all[i][4] != '0')
                continue;
            struct lock_view whole = view_among(all[i], 8, all), part = view_among(all[i], left, read);
            assert_false(unread[i]);
            assert_memory_equal(&whole, &part, sizeof whole);
        }
    }
    assert_true(dropped > 10000);
}

/* Exactly its room, and from exactly its bytes. */
static void an_id_is_written_in_36_bytes(void **state)
{
    (void)state;
    char out[LOCK_UUID_SIZE + 2];
    uint8_t id[17];
    for (int i = 0; i < 17; i++)
        id[i] = (uint8_t)(16 * i + 15 - i % 16);
    memset(out, '#', sizeof out);
    lock_names_uuid(out, id);
    assert_memory_equal(out, "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0##", sizeof out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_wait_for_the_nearest_writer),
        cmocka_unit_test(a_reader_in_the_place_of_its_writer_stands_behind_it),
        cmocka_unit_test(keys_of_readers_and_writers),
        cmocka_unit_test(unread_names_of_readers_and_writers_make_no_difference),
        cmocka_unit_test(an_id_is_written_in_36_bytes),
        cmocka_unit_test(uuid_has_the_usual_groups),
        cmocka_unit_test(sequence_is_written_as_the_server_does),
        cmocka_unit_test(key_is_the_text_after_the_last_lock),
        cmocka_unit_test(wrapped_sequences_are_told_apart),
        cmocka_unit_test(foreign_children_are_sorted_as_curator_does),
        cmocka_unit_test(contenders_of_other_kinds_are_foreign),
        cmocka_unit_test(created_paths_are_parsed),
        cmocka_unit_test(nearest_contender_is_ahead_in_any_order_of_the_list),
        cmocka_unit_test(a_smaller_uuid_is_no_smaller_contender),
        cmocka_unit_test(equal_sequences_are_ordered_by_name),
        cmocka_unit_test(our_absence_is_seen),
        cmocka_unit_test(oddities_are_noted),
        cmocka_unit_test(sorting_puts_contenders_first),
        cmocka_unit_test(every_length_is_sorted),
        cmocka_unit_test(time_for_a_crowd_grows_slowly),
        cmocka_unit_test(names_that_are_unread),
        cmocka_unit_test(unread_names_make_no_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
