/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The example at the head of state/canon.h: which of its states are one, by ranks of numbers and by places of processes. */
#include "state/canon.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define CLIENTS 2

struct server {
    struct arena_block head;
    int32_t last, holder;
};

struct client {
    struct arena_block head;
    int32_t seen, reserved;
};

struct state {
    int32_t last, holder, seen[CLIENTS];
};

static const struct state A = {7, 0, {7, 3}}, B = {9, 0, {9, 4}}, C = {9, 1, {4, 9}}, D = {9, 0, {4, 9}};

static struct arena arena;
static int server_block, client_block[CLIENTS];
static int self[CLIENTS];

static void show(void *ctx, int block, struct canon *canon)
{
    (void)ctx;
    if (block == server_block) {
        const struct server *server = arena_at(&arena, block);
        canon_number(canon, CANON_ZXID, &server->last);
        canon_role(canon, &server->holder, sizeof server->holder, server->holder);
    } else {
        const struct client *client = arena_at(&arena, block);
        canon_number(canon, CANON_ZXID, &client->seen);
    }
}

static int open_arena(void **state)
{
    (void)state;
    assert_int_equal(arena_open(&arena, (size_t)1 << 20), 0);
    server_block = arena_add(&arena, sizeof(struct server), sizeof(struct server));
    for (int i = 0; i < CLIENTS; i++) {
        client_block[i] = arena_add(&arena, sizeof(struct client), sizeof(struct client));
    }
    return 0;
}

static int close_arena(void **state)
{
    (void)state;
    arena_close(&arena);
    return 0;
}

static uint64_t fingerprint(struct canon *canon, const struct state *state)
{
    arena_mark(&arena, server_block);
    struct server *server = arena_at(&arena, server_block);
    server->last = state->last;
    server->holder = state->holder;
    for (int i = 0; i < CLIENTS; i++) {
        arena_mark(&arena, client_block[i]);
        ((struct client *)arena_at(&arena, client_block[i]))->seen = state->seen[i];
    }
    return canon_fingerprint(canon);
}

static void test_numbers_count_by_their_rank(void **state)
{
    (void)state;
    struct canon *canon = canon_open(&arena, CLIENTS, show, NULL);
    assert_non_null(canon);
    uint64_t a = fingerprint(canon, &A);
    assert_int_equal(fingerprint(canon, &B), a);
    assert_int_not_equal(fingerprint(canon, &C), a);
    assert_int_not_equal(fingerprint(canon, &D), a);
    canon_close(canon);
}

static void test_processes_count_by_what_they_are(void **state)
{
    (void)state;
    struct canon_layout layout = {0};
    struct canon *canon = canon_open(&arena, CLIENTS, show, NULL);
    assert_non_null(canon);
    layout.owner[server_block] = -1;
    layout.alike[server_block] = (uint8_t)server_block;
    for (int i = 0; i < CLIENTS; i++) {
        layout.owner[client_block[i]] = i;
        layout.alike[client_block[i]] = (uint8_t)client_block[0];
        layout.self[i] = &self[i];
    }
    assert_true(canon_processes_open(canon, &layout));
    uint64_t a = fingerprint(canon, &A);
    assert_int_equal(fingerprint(canon, &B), a);
    assert_int_equal(fingerprint(canon, &C), a);
    assert_int_not_equal(fingerprint(canon, &D), a);
    assert_false(canon_is_refused(canon));
    canon_close(canon);
}

struct counter {
    struct arena_block head;
    int32_t next, remembered;
};

static int ahead;

static void show_counter(void *ctx, int block, struct canon *canon)
{
    struct counter *counter = arena_at(&arena, block);
    (void)ctx;
    if (block == client_block[0]) {
        canon_counter(canon, CANON_SEQUENCE, &counter->next, ahead);
        canon_number(canon, CANON_SEQUENCE, &counter->remembered);
    }
}

static uint64_t counted(struct canon *canon, int32_t next, int32_t remembered)
{
    arena_mark(&arena, client_block[0]);
    struct counter *counter = arena_at(&arena, client_block[0]);
    counter->next = next;
    counter->remembered = remembered;
    return canon_fingerprint(canon);
}

/* A counter that has begun again reaches a remembered number after some steps, whose number counts. */
static void test_distances_ahead_of_a_counter_count(void **state)
{
    (void)state;
    for (ahead = 0; ahead <= 8; ahead += 8) {
        struct canon *canon = canon_open(&arena, CLIENTS, show_counter, NULL);
        assert_non_null(canon);
        assert_int_equal(counted(canon, 9, 4), counted(canon, 30, 7));
        assert_int_equal(counted(canon, 1, 5), counted(canon, 3, 7));
        assert_int_equal(counted(canon, 1, 5) != counted(canon, 1, 6), ahead > 0);
        assert_int_not_equal(counted(canon, 5, 5), counted(canon, 4, 5));
        canon_close(canon);
    }
}

struct letters {
    struct arena_block head;
    char text[16];
};

static void show_letters(void *ctx, int block, struct canon *canon)
{
    (void)ctx;
    const struct letters *letters = arena_at(&arena, block);
    canon_cut(canon, letters->text, 3);
}

static uint64_t letters_fingerprint(struct canon *canon, const char *text)
{
    arena_mark(&arena, 0);
    memcpy(((struct letters *)arena_at(&arena, 0))->text, text, sizeof((struct letters *)0)->text);
    return canon_fingerprint(canon);
}

/* What is left of a block has 21 bytes: the last ones count although they are no whole word. */
static void test_all_bytes_behind_a_cut_count(void **state)
{
    (void)state;
    assert_int_equal(arena_open(&arena, (size_t)1 << 20), 0);
    assert_int_equal(arena_add(&arena, sizeof(struct letters), sizeof(struct letters)), 0);
    struct canon *canon = canon_open(&arena, 1, show_letters, NULL);
    assert_non_null(canon);
    uint64_t a = letters_fingerprint(canon, "abcdefghijklmnop");
    assert_int_equal(letters_fingerprint(canon, "xyzdefghijklmnop"), a);
    assert_int_not_equal(letters_fingerprint(canon, "abcdefghijklmnoq"), a);
    assert_int_not_equal(letters_fingerprint(canon, "abcDefghijklmnop"), a);
    canon_close(canon);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_numbers_count_by_their_rank, open_arena, close_arena),
        cmocka_unit_test_setup_teardown(test_processes_count_by_what_they_are, open_arena, close_arena),
        cmocka_unit_test_setup_teardown(test_distances_ahead_of_a_counter_count, open_arena, close_arena),
        cmocka_unit_test_teardown(test_all_bytes_behind_a_cut_count, close_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
