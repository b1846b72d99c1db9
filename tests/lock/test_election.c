/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The election: what its callbacks tell, and when a candidate stands again. tests/promises has a break for
 * each sentence of election.h. Runs of several processes are in scenarios/election and in the searches,
 * blocking calls in test_threads.c. */
#include "stage.h"

#include <lockstep/election.h>

enum { CANDIDATES = 3 };

static struct ls_election election[CANDIDATES];
static struct ls_election_options options;
static void (*in_callback)(struct ls_election *election); /* called inside each callback */
static int64_t term[CANDIDATES];                          /* token of the last term */

/* ---- what the callbacks say: "a elected" ---- */

static void say(struct ls_election *which, const char *what, int rc)
{
    stage_add(stage.told, "%c %s%s%s", (char)('a' + (which - election)), what, rc ? " " : "",
              rc ? stage_err(rc) : "");
    if (in_callback)
        in_callback(which);
}

static void on_elected(struct ls_election *which, int64_t token)
{
    assert_true(token > term[which - election]);
    assert_int_equal(ls_election_token(which), token);
    term[which - election] = token;
    say(which, "elected", 0);
}

static void on_suspended(struct ls_election *which, int64_t token)
{
    assert_int_equal(token, term[which - election]);
    assert_int_equal(ls_election_query(which), LS_UNKNOWN);
    say(which, "suspended", 0);
}

static void on_restored(struct ls_election *which, int64_t token)
{
    assert_int_equal(token, term[which - election]);
    say(which, "restored", 0);
}

static void on_deposed(struct ls_election *which, int64_t token, int rc)
{
    assert_int_equal(token, term[which - election]);
    assert_int_equal(ls_election_query(which), LS_NOT_HELD);
    say(which, "deposed", rc);
}

static void on_resigned(struct ls_election *which, int rc)
{
    say(which, "resigned", rc);
}

static void on_failed(struct ls_election *which, int rc)
{
    assert_false(ls_election_is_candidate(which));
    say(which, "failed", rc);
}

static void on_warning(struct ls_election *which, enum ls_warning warning)
{
    say(which, warning == LS_WARN_FOREIGN_CHILD ? "warned of a foreign child" : "warned", 0);
}

static void on_candidates(struct ls_election *which, void *user, int rc, const struct ls_participant *list,
                          int count)
{
    assert_ptr_equal(user, &options);
    say(which, "sees", rc);
    for (int i = 0; i < count; i++) {
        size_t size = strlen(stage.told);
        snprintf(stage.told + size, STAGE_TEXT - size, " %s=%s", strstr(list[i].name, "-l") + 1,
                 list[i].contents);
    }
}

static const struct ls_election_ops ops = {.on_elected = on_elected,
                                           .on_suspended = on_suspended,
                                           .on_restored = on_restored,
                                           .on_deposed = on_deposed,
                                           .on_resigned = on_resigned,
                                           .on_failed = on_failed,
                                           .on_warning = on_warning,
                                           .on_candidates = on_candidates};

/* ---- processes with one election each ---- */

static struct ls_election *of(const struct probe *probe)
{
    return &election[probe->session.env->process];
}

static void open_election(struct probe *probe)
{
    static const char *const ids[CANDIDATES] = {"first", "second", "third"};
    assert_int_equal(ls_election_init(of(probe), &probe->session, "/locks/x", &options), LS_OK);
    assert_int_equal(
        ls_election_set_id(of(probe), ids[of(probe) - election], (int)strlen(ids[of(probe) - election])),
        LS_OK);
}

static void close_election(struct probe *probe)
{
    assert_int_equal(ls_election_close(of(probe)), LS_OK);
}

static void open_with(int processes, struct ls_election_options given)
{
    stage_set(processes);
    stage.options.used_directory = true;
    options = given;
    in_callback = NULL;
    memset(term, 0, sizeof term);
    stage_ready();
    for (int p = 0; p < processes; p++)
        stage_job(p, open_election);
    stage_forget();
}

static void open_all(int processes, enum ls_election_style style)
{
    open_with(processes, (struct ls_election_options){.ops = &ops, .style = style});
}

/* Answers of the close are not compared here. */
static void end(void)
{
    in_callback = NULL;
    for (int p = 0; p < stage.options.processes; p++)
        stage_job(p, close_election);
    play("settle");
    assert_int_equal(stage.nodes, 0);
    stage_end();
}

static int called;

static void do_start(struct probe *probe)
{
    called = ls_election_start(of(probe));
}

static void do_resign(struct probe *probe)
{
    called = ls_election_resign(of(probe));
}

static int start(int process)
{
    stage_job(process, do_start);
    play("settle");
    return called;
}

static int resign(int process)
{
    stage_job(process, do_resign);
    play("settle");
    return called;
}

static void ask(struct probe *probe)
{
    assert_int_equal(ls_election_candidates_start(of(probe), &options), LS_OK);
}

/* ---- terms ---- */

static void candidates_lead_in_their_order(void **state)
{
    (void)state;
    open_all(3, LS_ELECTION_LATCH);
    assert_int_equal(start(0), LS_OK);
    assert_int_equal(start(1), LS_OK);
    assert_int_equal(start(2), LS_OK);
    told("a elected");
    assert_int_equal(ls_election_query(&election[0]), LS_HELD);
    assert_int_equal(ls_election_query(&election[1]), LS_NOT_HELD);
    assert_true(ls_election_belief_left_ms(&election[0]) > 0);
    assert_true(ls_election_is_candidate(&election[1]));
    assert_int_equal(ls_election_token(&election[1]), 0);
    assert_int_equal(resign(0), LS_OK);
    told("a resigned; b elected");
    assert_true(term[1] > term[0]);
    assert_false(ls_election_is_candidate(&election[0]));
    assert_int_equal(resign(1), LS_OK);
    told("b resigned; c elected");
    end();
}

static void names_are_those_of_curator(void **state)
{
    (void)state;
    open_all(1, LS_ELECTION_LATCH);
    start(0);
    assert_non_null(strstr(stage.node[0], "-latch-0000000"));
    assert_memory_equal(strrchr(stage.node[0], '/') + 1, "_c_", 3);
    end();
    open_all(1, LS_ELECTION_SELECTOR);
    start(0);
    assert_non_null(strstr(stage.node[0], "-lock-0000000"));
    end();
}

static void a_leader_whose_session_ends_stands_again(void **state)
{
    zoo_op_t op;
    char path[LS_MUTEX_PATH_SIZE_MAX + 64];
    (void)state;
    open_all(2, LS_ELECTION_LATCH);
    start(0);
    start(1);
    told("a elected");
    play("cut a", "expire a", "settle");
    told("a suspended; a suspended; a lost; a deposed ELOST; b elected; a connected");
    assert_true(ls_election_is_candidate(&election[0]));
    assert_int_equal(ls_election_guard(&election[0], &op, path, sizeof path), LS_ENOTOWNER);
    assert_int_equal(stage.nodes, 2);
    assert_int_equal(resign(1), LS_OK);
    told("a elected; b resigned");
    end();
}

static void a_leader_whose_node_is_deleted_stands_again(void **state)
{
    (void)state;
    open_all(2, LS_ELECTION_LATCH);
    start(0);
    start(1);
    stage_forget();
    play("evict a", "settle");
    told("a deposed ENOENT; b elected");
    assert_true(ls_election_is_candidate(&election[0]));
    resign(1);
    told("a elected; b resigned");
    play("cut a", "expire a", "settle"); /* the reason is that of this term */
    told("a suspended; a suspended; a lost; a deposed ELOST; a connected; a elected");
    end();
}

static void a_leader_may_miss_its_node_before_its_session(void **state)
{
    (void)state;
    open_all(1, LS_ELECTION_LATCH);
    start(0);
    stage_forget();
    play("expire a", "settle");
    told("a deposed ENOENT; a suspended; a lost; a connected; a elected");
    end();
}

static void a_candidate_that_waits_outlives_its_session(void **state)
{
    (void)state;
    open_all(2, LS_ELECTION_LATCH);
    start(0);
    start(1);
    stage_forget();
    play("expire b", "settle");
    told("b suspended; b lost; b connected");
    resign(0);
    told("a resigned; b elected");
    end();
}

static void a_leader_is_told_of_its_link(void **state)
{
    (void)state;
    open_all(2, LS_ELECTION_LATCH);
    start(0);
    start(1);
    stage_forget();
    play("cut a", "settle", "cut b", "settle");
    told("a suspended; a suspended; a reconnected; a restored; b suspended; b reconnected");
    resign(0);
    stage_forget();
    play("cut a", "settle");
    told("a suspended; a reconnected");
    end();
}

/* ---- the end of a candidacy ---- */

static void who_waits_withdraws(void **state)
{
    (void)state;
    open_all(2, LS_ELECTION_LATCH);
    assert_int_equal(resign(1), LS_ENOENT);
    start(0);
    start(1);
    assert_int_equal(start(1), LS_EALREADY);
    assert_int_equal(start(0), LS_EALREADY);
    told("a elected");
    assert_int_equal(resign(1), LS_OK);
    told("b resigned ECANCELED; b idle");
    assert_int_equal(stage.nodes, 1);
    assert_int_equal(resign(1), LS_ENOENT);
    assert_int_equal(start(1), LS_OK);
    resign(0);
    told("a resigned; b elected");
    end();
}

static void believe_until_the_resignation(struct probe *probe)
{
    assert_int_equal(ls_election_query(of(probe)), LS_HELD);
    assert_int_equal(ls_election_resign(of(probe)), LS_OK);
    assert_int_equal(ls_election_query(of(probe)), LS_NOT_HELD);
}

static void a_resignation_ends_the_belief_at_once(void **state)
{
    (void)state;
    open_all(1, LS_ELECTION_LATCH);
    start(0);
    stage_job(0, believe_until_the_resignation);
    told("a elected");
    play("settle");
    told("a resigned");
    end();
}

static void a_callback_may_be_missing(void **state)
{
    static const struct ls_election_ops none;
    (void)state;
    open_all(2, LS_ELECTION_LATCH);
    options.ops = &none;
    start(0);
    start(1);
    play("cut a", "settle", "evict a", "settle");
    stage_job(0, ask);
    resign(0);
    resign(1);
    play("create /locks/x/latch--000000001");
    start(0);
    assert_false(ls_election_is_candidate(&election[0]));
    play("remove /locks/x/latch--000000001");
    told("a suspended; a reconnected; a idle; a idle");
    end();
}

static void resign_once(struct ls_election *which)
{
    in_callback = NULL;
    called = ls_election_resign(which);
}

static void who_resigns_when_deposed_stands_no_more(void **state)
{
    (void)state;
    open_all(1, LS_ELECTION_LATCH);
    start(0);
    stage_forget();
    play("evict a");
    in_callback = resign_once;
    play("settle");
    told("a deposed ENOENT");
    assert_int_equal(called, LS_ELOST);
    assert_int_equal(stage.nodes, 0);
    assert_int_equal(start(0), LS_OK);
    told("a elected");
    end();
}

static void resign_and_start_once(struct ls_election *which)
{
    resign_once(which);
    assert_int_equal(ls_election_start(which), LS_OK);
}

static void who_stands_anew_when_deposed_stands_once(void **state)
{
    (void)state;
    open_all(1, LS_ELECTION_LATCH);
    start(0);
    stage_forget();
    play("evict a");
    in_callback = resign_and_start_once;
    play("settle");
    told("a deposed ENOENT; a elected");
    assert_int_equal(stage.nodes, 1);
    end();
}

static void fail_next_allocation(struct ls_election *which)
{
    (void)which;
    in_callback = NULL;
    process_mark(0)->fail_in = 1;
}

static void who_cannot_stand_again_is_told(void **state)
{
    (void)state;
    open_all(1, LS_ELECTION_LATCH);
    start(0);
    stage_forget();
    play("evict a");
    in_callback = fail_next_allocation;
    play("settle");
    told("a deposed ENOENT; a failed ENOMEM");
    assert_int_equal(start(0), LS_OK);
    told("a elected");
    end();
}

static void a_refusal_ends_the_candidacy(void **state)
{
    (void)state;
    open_all(1, LS_ELECTION_LATCH);
    play("create /locks/x/latch--000000001");
    assert_int_equal(start(0), LS_OK);
    told("a failed ESEQUENCE; a idle");
    play("remove /locks/x/latch--000000001");
    end();
}

static void a_foreign_child_is_told(void **state)
{
    (void)state;
    open_all(1, LS_ELECTION_LATCH);
    play("create /locks/x/lock-0000000000");
    start(0);
    told("a warned of a foreign child; a elected");
    play("remove /locks/x/lock-0000000000");
    end();
}

/* ---- life ---- */

static void close_once(struct ls_election *which)
{
    in_callback = NULL;
    assert_int_equal(ls_election_close(which), LS_EDEADLK);
}

static void a_close_ends_terms_and_waits(void **state)
{
    zoo_op_t op;
    char path[LS_MUTEX_PATH_SIZE_MAX + 64];
    (void)state;
    open_all(2, LS_ELECTION_LATCH);
    in_callback = close_once;
    start(0);
    assert_null(in_callback);
    start(1);
    told("a elected");
    stage_job(1, close_election);
    told("b failed ECLOSED");
    stage_job(0, close_election);
    told("a deposed ECLOSED");
    play("settle");
    told("a idle; b idle");
    assert_int_equal(stage.nodes, 0);
    play("cut a", "settle");
    told("a suspended; a reconnected");
    assert_int_equal(start(0), LS_ECLOSED);
    assert_int_equal(resign(0), LS_ECLOSED);
    assert_false(ls_election_is_candidate(&election[0]));
    assert_int_equal(ls_election_query(&election[0]), LS_NOT_HELD);
    assert_int_equal(ls_election_guard(&election[0], &op, path, sizeof path), LS_ENOTOWNER);
    assert_int_equal(ls_election_await(&election[0], 0), LS_ECLOSED);
    assert_int_equal(ls_election_leader(&election[0], path, sizeof path), LS_ECLOSED);
    end();
}

static void close_session(struct probe *probe)
{
    assert_int_equal(ls_session_close(&probe->session), LS_OK);
}

static void a_closed_session_ends_a_term(void **state)
{
    (void)state;
    open_all(2, LS_ELECTION_LATCH);
    start(0);
    start(1);
    stage_forget();
    stage_job(0, close_session);
    stage_job(1, close_session);
    told("a deposed ECLOSED; b failed ECLOSED");
    assert_false(ls_election_is_candidate(&election[0]));
    assert_false(ls_election_is_candidate(&election[1]));
    assert_int_equal(start(0), LS_ECLOSED);
    end();
}

static void init_wrongly(struct probe *probe)
{
    struct ls_election other;
    struct ls_election_options wrong = {.style = (enum ls_election_style)2};
    assert_int_equal(ls_election_init(NULL, &probe->session, "/x", NULL), LS_EINVAL);
    assert_int_equal(ls_election_init(&other, &probe->session, "x", NULL), LS_EINVAL);
    assert_int_equal(ls_election_init(&other, &probe->session, "/x", &wrong), LS_EINVAL);
    process_mark(0)->fail_in = 1;
    assert_int_equal(ls_election_init(&other, &probe->session, "/x", NULL), LS_ENOMEM);
    process_mark(0)->fail_in = 0;
    assert_int_equal(ls_election_init(&other, &probe->session, "/x", NULL), LS_OK);
    assert_int_equal(ls_election_set_id(&other, "x", -1), LS_EINVAL);
    assert_int_equal(ls_election_start(&other), LS_OK);
    assert_int_equal(ls_election_close(&other), LS_OK); /* without callbacks */
}

static void what_is_malformed_is_refused(void **state)
{
    (void)state;
    open_all(1, LS_ELECTION_LATCH);
    stage_job(0, init_wrongly);
    play("settle");
    stage_forget();
    end();
}

/* ---- questions ---- */

static void anybody_sees_the_candidates(void **state)
{
    (void)state;
    open_all(3, LS_ELECTION_LATCH);
    start(1);
    start(0);
    stage_forget();
    stage_job(2, ask);
    play("settle");
    told("c sees latch-0000000007=second latch-0000000008=first");
    end();
}

static void ask_blocking(struct probe *probe)
{
    struct ls_participants list;
    char id[8];
    ls_env_callback_enter(probe->session.env);
    assert_int_equal(ls_election_await(of(probe), 0), LS_EDEADLK);
    assert_int_equal(ls_election_lead(of(probe), NULL, NULL, 0), LS_EDEADLK);
    assert_int_equal(ls_election_candidates(of(probe), &list), LS_EDEADLK);
    assert_int_equal(ls_election_leader(of(probe), id, sizeof id), LS_EDEADLK);
    ls_env_callback_leave(probe->session.env);
    assert_int_equal(ls_election_await(of(probe), -1), probe == stage_probe(0) ? LS_OK : LS_ENOENT);
}

static void await_without_memory(struct probe *probe)
{
    assert_int_equal(ls_election_await(of(probe), 0), LS_ETIMEDOUT);
    process_mark(1)->fail_in = 1;
    assert_int_equal(ls_election_await(of(probe), 100), LS_ENOMEM);
    process_mark(1)->fail_in = 0;
}

static void a_wait_needs_time_and_a_timer(void **state)
{
    (void)state;
    open_all(2, LS_ELECTION_LATCH);
    start(0);
    start(1);
    stage_job(1, await_without_memory);
    assert_true(ls_election_is_candidate(&election[1]));
    end();
}

static void a_callback_does_not_wait(void **state)
{
    (void)state;
    open_all(2, LS_ELECTION_LATCH);
    start(0);
    stage_job(0, ask_blocking);
    stage_job(1, ask_blocking);
    end();
}

static void nodes_have_the_acl_of_the_election(void **state)
{
    static char world[] = "world", anyone[] = "anyone";
    static struct ACL unread[] = {{30, {world, anyone}}}; /* all but READ */
    static const struct ACL_vector acl = {.count = 1, .data = unread};
    (void)state;
    open_with(2, (struct ls_election_options){.ops = &ops, .acl = &acl});
    start(0);
    told("a elected");
    stage_job(1, ask);
    play("settle");
    told("b sees ENOAUTH");
    end();
}

static void terms_are_counted(void **state)
{
    static struct ls_mutex_counters counters;
    struct ls_mutex_counters copy = {.grants = 9};
    (void)state;
    counters = (struct ls_mutex_counters){0};
    open_with(1, (struct ls_election_options){.ops = &ops, .counters = &counters});
    start(0);
    play("cut a", "expire a", "settle");
    told("a elected; a suspended; a suspended; a lost; a deposed ELOST; a connected; a elected");
    resign(0);
    assert_int_equal(ls_election_counters(&election[0], &copy), LS_OK);
    assert_int_equal(copy.acquires, 2);
    assert_int_equal(copy.grants, 2);
    assert_int_equal(copy.losses, 1);
    assert_int_equal(copy.releases, 1);
    end();
    open_all(1, LS_ELECTION_LATCH);
    assert_int_equal(ls_election_counters(&election[0], &copy), LS_EINVAL);
    end();
}

static void a_guard_names_the_node_of_the_term(void **state)
{
    zoo_op_t op;
    char path[LS_MUTEX_PATH_SIZE_MAX + 64];
    (void)state;
    open_all(2, LS_ELECTION_LATCH);
    start(0);
    start(1);
    assert_int_equal(ls_election_guard(&election[0], &op, path, sizeof path), LS_OK);
    assert_string_equal(path, stage.node[0]);
    assert_int_equal(ls_election_guard(&election[0], &op, path, 20), LS_EOVERFLOW);
    assert_int_equal(ls_election_guard(&election[1], &op, path, sizeof path), LS_ENOTOWNER);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(candidates_lead_in_their_order),
        cmocka_unit_test(names_are_those_of_curator),
        cmocka_unit_test(a_leader_whose_session_ends_stands_again),
        cmocka_unit_test(a_leader_whose_node_is_deleted_stands_again),
        cmocka_unit_test(a_leader_may_miss_its_node_before_its_session),
        cmocka_unit_test(a_candidate_that_waits_outlives_its_session),
        cmocka_unit_test(a_leader_is_told_of_its_link),
        cmocka_unit_test(who_waits_withdraws),
        cmocka_unit_test(a_resignation_ends_the_belief_at_once),
        cmocka_unit_test(a_callback_may_be_missing),
        cmocka_unit_test(who_resigns_when_deposed_stands_no_more),
        cmocka_unit_test(who_stands_anew_when_deposed_stands_once),
        cmocka_unit_test(who_cannot_stand_again_is_told),
        cmocka_unit_test(a_refusal_ends_the_candidacy),
        cmocka_unit_test(a_foreign_child_is_told),
        cmocka_unit_test(a_close_ends_terms_and_waits),
        cmocka_unit_test(a_closed_session_ends_a_term),
        cmocka_unit_test(what_is_malformed_is_refused),
        cmocka_unit_test(anybody_sees_the_candidates),
        cmocka_unit_test(a_wait_needs_time_and_a_timer),
        cmocka_unit_test(a_callback_does_not_wait),
        cmocka_unit_test(nodes_have_the_acl_of_the_election),
        cmocka_unit_test(terms_are_counted),
        cmocka_unit_test(a_guard_names_the_node_of_the_term),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
