/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The parser: what it makes of a file, and the one line that it answers a wrong one with. */
#include "check/check.h"
#include "scenario/scenario.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct scenario scenario;

static void take(const char *text)
{
    struct input_error error = {""};
    if (scenario_read_bytes(&scenario, "s", text, strlen(text), &error) != 0) {
        fail_msg("%s", error.text);
    }
}

static void refuse(const char *text, const char *complaint)
{
    struct input_error error = {""};
    assert_int_equal(scenario_read_bytes(&scenario, "s", text, strlen(text), &error), -1);
    assert_string_equal(error.text, complaint);
    assert_null(scenario.command);
}

#define HEAD "mutex /locks/x\nprocess a b\n"
#define TAIL "\n----\n"

static void reads_every_header(void **state)
{
    (void)state;
    take("world servers=3 latency=5ms..20ms session-timeout=2s tick=100ms seed=99 rc=-7 used preset=-5 "
         "containers=no "
         "defects=wrap,missed-watch untimed callbacks-in-init\n"
         "mutex /locks/x\nmutex /a/b/y as z\nchroot /app\ncontents \"hello # world\"\nnode "
         "/app/a/b/y/content\nnode /z perms=5\nprocess a b\nprocess c "
         "asleep\n"
         "show nodes belief\nproperties no_orphan_node bounded_work\nsettle\n----\n");
    const struct world_options *o = &scenario.options;
    assert_int_equal(o->servers, 3);
    assert_int_equal(o->latency_min_ms, 5);
    assert_int_equal(o->latency_max_ms, 20);
    assert_int_equal(o->session_timeout_ms, 2000);
    assert_int_equal(o->tick_ms, 100);
    assert_int_equal(o->seed, 99);
    assert_int_equal(o->loss_rc, -7);
    assert_true(scenario.rc_given);
    assert_true(o->used_directory);
    assert_int_equal(o->sequence_preset, -5);
    assert_true(o->no_containers);
    assert_int_equal(o->defects, WORLD_DEFECT_WRAP | WORLD_DEFECT_MISSED_WATCH);
    assert_false(o->timed);
    assert_true(o->callbacks_in_init);
    assert_int_equal(o->locks, 2);
    assert_string_equal(o->lock_path[0], "/locks/x");
    assert_string_equal(o->lock_path[1], "/a/b/y");
    assert_string_equal(scenario.lock_name[0], "x");
    assert_string_equal(scenario.lock_name[1], "z");
    assert_string_equal(o->chroot, "/app");
    assert_string_equal(o->contents, "hello # world");
    assert_string_equal(o->node[0], "/app/a/b/y/content");
    assert_string_equal(o->node[1], "/z");
    assert_int_equal(o->node_perms[0], 0);
    assert_int_equal(o->node_perms[1], 5);
    assert_null(o->node[2]);
    assert_int_equal(o->processes, 3);
    assert_string_equal(o->name[2], "c");
    assert_true(o->autostart[1]);
    assert_false(o->autostart[2]);
    assert_int_equal(scenario.show, SHOW_DEFAULT | SHOW_NODES | SHOW_BELIEF);
    assert_int_equal(scenario.properties,
                     CHECK_BIT(check_position("no_orphan_node")) | CHECK_BIT(check_position("bounded_work")));
    assert_false(scenario.exploring);
    scenario_close(&scenario);
}

static void reads_every_command(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        int step, kind, process, a, b, c, d;
    } COMMANDS[] = {
        {"a acquire", STEP_ACTION, ACTION_ACQUIRE, 0, 0, 0, -1, 0},
        {"b acquire x owner=2 timeout=2s", STEP_ACTION, ACTION_ACQUIRE, 1, 2, 0, 2000, 0},
        {"b acquire timeout=1m", STEP_ACTION, ACTION_ACQUIRE, 1, 0, 0, 60000, 0},
        {"a acquire nowait owner=1", STEP_ACTION, ACTION_ACQUIRE, 0, 1, 0, -1, 1},
        {"a try", STEP_ACTION, ACTION_ACQUIRE, 0, 0, 0, 0, 0},
        {"a try nowait", STEP_ACTION, ACTION_ACQUIRE, 0, 0, 0, 0, 1},
        {"a release owner=7", STEP_ACTION, ACTION_RELEASE, 0, 7, 0, 0, 0},
        {"a cancel", STEP_ACTION, ACTION_CANCEL, 0, 0, 0, 0, 0},
        {"a write x", STEP_ACTION, ACTION_WRITE, 0, 0, 0, 0, 0},
        {"b write guarded", STEP_ACTION, ACTION_WRITE, 1, 0, 0, 1, 0},
        {"b write guarded nowait", STEP_ACTION, ACTION_WRITE, 1, 0, 0, 1, 1},
        {"b write x guarded", STEP_ACTION, ACTION_WRITE, 1, 0, 0, 1, 0},
        {"a revocable x", STEP_ACTION, ACTION_REVOCABLE, 0, 0, 0, 0, 0},
        {"a close x", STEP_ACTION, ACTION_CLOSE, 0, 0, 0, 0, 0},
        {"b open", STEP_ACTION, ACTION_OPEN, 1, 0, 0, 0, 0},
        {"b revoke", STEP_ACTION, ACTION_REVOKE, 1, 0, 0, 1, 0},
        {"b revoke x place=2", STEP_ACTION, ACTION_REVOKE, 1, 0, 0, 2, 0},
        {"a stop", STEP_ACTION, ACTION_STOP, 0, 0, 0, 0, 0},
        {"a start", STEP_ACTION, ACTION_START, 0, 0, 0, 0, 0},
        {"cut b keep=1 apply=2 rc=-7 late", STEP_ACTION, ACTION_CUT, 1, 1, 2, -7, 1},
        {"cut b", STEP_ACTION, ACTION_CUT, 1, 0, 0, -4, 0},
        {"refuse a", STEP_ACTION, ACTION_REFUSE, 0, 0, 0, 0, 0},
        {"partition a", STEP_ACTION, ACTION_PARTITION, 0, 0, 0, 0, 0},
        {"heal a", STEP_ACTION, ACTION_HEAL, 0, 0, 0, 0, 0},
        {"expire a", STEP_ACTION, ACTION_EXPIRE, 0, 0, 0, 0, 0},
        {"pause a", STEP_ACTION, ACTION_PAUSE, 0, 0, 0, 0, 0},
        {"resume a", STEP_ACTION, ACTION_RESUME, 0, 0, 0, 0, 0},
        {"crash a", STEP_ACTION, ACTION_CRASH, 0, 0, 0, 0, 0},
        {"restart a", STEP_ACTION, ACTION_RESTART, 0, 0, 0, 0, 0},
        {"fail-alloc a", STEP_ACTION, ACTION_FAIL_ALLOC, 0, 0, 0, 1, 0},
        {"fail-alloc a n=3", STEP_ACTION, ACTION_FAIL_ALLOC, 0, 0, 0, 3, 0},
        {"fail-call a", STEP_ACTION, ACTION_FAIL_CALL, 0, 0, 0, 1, 0},
        {"fail-call a n=255", STEP_ACTION, ACTION_FAIL_CALL, 0, 0, 0, 255, 0},
        {"freeze s2", STEP_ACTION, ACTION_FREEZE, 255, 0, 1, 0, 0},
        {"thaw s2", STEP_ACTION, ACTION_THAW, 255, 0, 1, 0, 0},
        {"lag s3", STEP_ACTION, ACTION_LAG, 255, 0, 2, 0, 0},
        {"restart-server s1", STEP_ACTION, ACTION_RESTART_SERVER, 255, 0, 0, 0, 0},
        {"sweep x", STEP_ACTION, ACTION_SWEEP, 255, 0, 0, 0, 0},
        {"evict a", STEP_ACTION, ACTION_EVICT, 0, 0, 0, 0, 0},
        {"evict a x", STEP_ACTION, ACTION_EVICT, 0, 0, 0, 0, 0},
        {"touch a", STEP_ACTION, ACTION_TOUCH, 0, 0, 0, 0, 0},
        {"touch a x", STEP_ACTION, ACTION_TOUCH, 0, 0, 0, 0, 0},
        {"restrict a", STEP_ACTION, ACTION_RESTRICT, 0, 0, 0, 0, 0},
        {"rmdir x", STEP_ACTION, ACTION_RMDIR, 255, 0, 0, 0, 0},
        {"create /locks/x/content perms=1", STEP_ACTION, ACTION_FOREIGN, 255, 0, 0, 1, 0},
        {"remove /locks/x", STEP_ACTION, ACTION_REMOVE, 255, 0, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof COMMANDS / sizeof COMMANDS[0]; i++) {
        char text[200];
        snprintf(text, sizeof text, "world servers=3\n" HEAD "%s # why" TAIL, COMMANDS[i].line);
        take(text);
        const struct action *action = &scenario.command[0].action;
        assert_int_equal(scenario.commands, 1);
        assert_int_equal(scenario.command[0].line, 4);
        assert_int_equal(scenario.command[0].step, COMMANDS[i].step);
        assert_int_equal(action->kind, COMMANDS[i].kind);
        assert_int_equal(action->process, COMMANDS[i].process);
        assert_int_equal(action->a, COMMANDS[i].a);
        assert_int_equal(action->b, COMMANDS[i].b);
        assert_int_equal(action->c, COMMANDS[i].c);
        assert_int_equal(action->d, COMMANDS[i].d);
        scenario_close(&scenario);
    }
}

static void reads_running_commands(void **state)
{
    (void)state;
    take(HEAD
         "settle\nadvance 5s\nbefore deliver a  create-reply # not\nafter  fire b\ndo bury a\nrest\nheal "
         "all\n----\n");
    assert_int_equal(scenario.commands, 7);
    assert_int_equal(scenario.command[0].step, STEP_SETTLE);
    assert_int_equal(scenario.command[1].step, STEP_ADVANCE);
    assert_int_equal(scenario.command[1].ms, 5000);
    assert_int_equal(scenario.command[2].step, STEP_BEFORE);
    assert_string_equal(scenario.command[2].text, "deliver a create-reply");
    assert_int_equal(scenario.command[3].step, STEP_AFTER);
    assert_string_equal(scenario.command[3].text, "fire b");
    assert_int_equal(scenario.command[4].step, STEP_DO);
    assert_string_equal(scenario.command[4].text, "bury a");
    assert_int_equal(scenario.command[5].step, STEP_REST);
    assert_int_equal(scenario.command[6].step, STEP_HEAL_ALL);
    scenario_close(&scenario);
}

/* A downgrade is the acquire of the read lock and the release of the write lock: the locks 1 and 2 here. */
static void reads_a_downgrade_as_two_actions(void **state)
{
    (void)state;
    take("mutex /locks/y\nrwlock /locks/x\nprocess a b\nb downgrade owner=3 x\na release y\n----\n");
    assert_int_equal(scenario.commands, 4);
    assert_int_equal(scenario.group[0].count, 4);
    const struct action *acquire = &scenario.command[0].action, *release = &scenario.command[2].action;
    assert_int_equal(acquire->kind, ACTION_ACQUIRE);
    assert_int_equal(acquire->process, 1);
    assert_int_equal(acquire->lock, 1);
    assert_int_equal(acquire->owner, 3);
    assert_int_equal(acquire->timeout_ms, -1);
    assert_int_equal(scenario.command[1].step, STEP_SETTLE);
    assert_int_equal(scenario.command[1].line, 4);
    assert_int_equal(scenario.command[2].step, STEP_ACTION);
    assert_int_equal(scenario.command[2].line, 4);
    assert_int_equal(release->kind, ACTION_RELEASE);
    assert_int_equal(release->process, 1);
    assert_int_equal(release->lock, 2);
    assert_int_equal(release->owner, 3);
    assert_int_equal(scenario.command[3].action.kind, ACTION_RELEASE);
    assert_int_equal(scenario.command[3].line, 5);
    scenario_close(&scenario);

    take("rwlock /locks/x\nprocess a: acquire x.write downgrade x release x.read\n----\n");
    const struct world_program *program = &scenario.options.program[0];
    assert_int_equal(program->count, 4);
    assert_int_equal(program->ops[1].kind, ACTION_ACQUIRE);
    assert_int_equal(program->ops[1].lock, 0);
    assert_int_equal(program->ops[1].timeout_ms, -1);
    assert_int_equal(program->ops[2].kind, ACTION_RELEASE);
    assert_int_equal(program->ops[2].lock, 1);
    assert_int_equal(program->ops[3].lock, 0);
    scenario_close(&scenario);
}

static void reads_groups_and_claims(void **state)
{
    (void)state;
    static const char TEXT[] =
        HEAD "a acquire\nsettle\n----\n[   10ms] a held\nholds bounded_work\n\n\nb try\n----\n\n"
             "rest\n----\nviolates no_orphan_node no_lost_wakeup";
    take(TEXT);
    assert_int_equal(scenario.groups, 3);
    assert_int_equal(scenario.group[0].count, 2);
    assert_int_equal(scenario.group[1].first, 2);
    assert_int_equal(scenario.group[1].count, 1);
    assert_int_equal(scenario.group[0].expected_end - scenario.group[0].expected_start,
                     strlen("[   10ms] a held\nholds bounded_work\n"));
    assert_int_equal(scenario.group[1].expected_end, scenario.group[1].expected_start);
    assert_int_equal(scenario.group[2].expected_end, strlen(TEXT));
    assert_int_equal(scenario.holds, CHECK_BIT(check_position("bounded_work")));
    assert_int_equal(scenario.violates, CHECK_BIT(check_position("no_orphan_node")) |
                                            CHECK_BIT(check_position("no_lost_wakeup")));
    assert_true(scenario.options.timed);
    scenario_close(&scenario);
}

#define WORLD(options, explore) "world " options "\nmutex /l/x\nprocess a: acquire\nexplore " explore TAIL

static void refuses_what_cannot_happen(void **state)
{
    (void)state;
    take(WORLD("servers=1", "lag<=0 late<=0 loss<=1 expire<=2 total<=2"));
    scenario_close(&scenario);
    take(WORLD("servers=2", "lag<=1 late<=1 sweep<=1 cancel<=1"));
    scenario_close(&scenario);
    refuse(WORLD("servers=1", "loss<=1 lag<=1"),
           "s:4:17: expected two servers at least (world servers=2) with this fault, found 'lag<=1'");
    refuse(WORLD("servers=1", "late<=2"),
           "s:4:9: expected two servers at least (world servers=2) with this fault, found 'late<=2'");
    refuse(WORLD("containers=no", "sweep<=1"),
           "s:4:9: expected servers that know containers with this fault, found 'sweep<=1'");
    refuse("mutex /l/x\nprocess a: write\nexplore cancel<=1" TAIL,
           "s:3:9: expected a program with an acquire with this fault, found 'cancel<=1'");
    refuse(WORLD("servers=1", "total<=0 loss<=1"),
           "s:4:9: expected a total of at least 1, as loss says, found 'total<=0'");
    refuse(WORLD("servers=1", "loss<=1 expire<=3 total<=2"),
           "s:4:27: expected a total of at least 3, as expire says, found 'total<=2'");
    refuse("mutex /l/x\nprocess a asleep: acquire" TAIL,
           "s:2:19: expected 'start': the process is asleep, found 'acquire'");
}

static void refuses_a_clock_that_is_not_there(void **state)
{
    (void)state;
    static const char COMPLAINT[] =
        "s:3:12: expected a property that is judged without a clock, found 'deadline_is_kept'";
    refuse("mutex /l/x\nprocess a: acquire\nproperties deadline_is_kept" TAIL, COMPLAINT);
    refuse("mutex /l/x\nprocess a: acquire\n----\nholds bounded_work deadline_is_kept\n",
           "s:4:20: expected a property that is judged without a clock, found 'deadline_is_kept'");
    take("world timed\nmutex /l/x\nprocess a: acquire\nproperties deadline_is_kept" TAIL);
    assert_int_equal(scenario.mode_line, 1);
    assert_int_equal(scenario.mode_column, 7);
    scenario_close(&scenario);
    take("mutex /l/x\nprocess a: acquire\nproperties at_most_one_believer" TAIL);
    scenario_close(&scenario);
}

static void reads_programs(void **state)
{
    (void)state;
    take(
        "mutex /x/x\nmutex /x/y\nprocess a b: acquire x owner=1 timeout=1s write x guarded release x owner=1 "
        "forever\n"
        "process c asleep: start try y\nexplore loss<=1 expire<=2 total<=2\n----\nholds "
        "at_most_one_holder\n  states\t12345678901 # all of them\n");
    const struct world_program *program = &scenario.options.program[1];
    assert_true(scenario.exploring);
    assert_false(scenario.options.timed);
    assert_int_equal(program->count, 3);
    assert_true(program->endless);
    assert_true(scenario.count_given[SCENARIO_STATES]);
    assert_true(scenario.count[SCENARIO_STATES] == 12345678901);
    assert_false(scenario.count_given[SCENARIO_TRANSITIONS]);
    assert_int_equal(program->ops[0].kind, ACTION_ACQUIRE);
    assert_int_equal(program->ops[0].a, 1);
    assert_int_equal(program->ops[0].c, 1000);
    assert_int_equal(program->ops[1].kind, ACTION_WRITE);
    assert_int_equal(program->ops[1].c, 1);
    assert_int_equal(program->ops[2].kind, ACTION_RELEASE);
    assert_int_equal(scenario.options.program[2].count, 2);
    assert_int_equal(scenario.options.program[2].ops[1].b, 1);
    assert_int_equal(scenario.options.program[2].ops[1].c, 0);
    assert_false(scenario.options.program[2].endless);
    assert_false(scenario.options.autostart[2]);
    assert_int_equal(scenario.options.budget[WORLD_FAULT_LOSS], 1);
    assert_int_equal(scenario.options.budget[WORLD_FAULT_EXPIRE], 2);
    assert_int_equal(scenario.options.budget[WORLD_FAULT_CRASH], 0);
    assert_int_equal(scenario.options.budget_total, 2);
    scenario_close(&scenario);
}

static void reads_programs_of_owners(void **state)
{
    (void)state;
    take("mutex /x/y\nprocess a\nprocess a b owner=2: acquire write guarded release forever\n"
         "process a owner=0: try\n" TAIL);
    const struct world_program *program = &scenario.options.program[0];
    assert_int_equal(scenario.options.processes, 2);
    assert_int_equal(program->tasks, 2);
    assert_int_equal(program->count, 4);
    assert_true(program->endless);
    assert_int_equal(program->task[0].begin, 0);
    assert_int_equal(program->task[0].end, 3);
    assert_int_equal(program->task[0].owner, 2);
    assert_true(program->task[0].endless);
    assert_int_equal(program->task[1].begin, 3);
    assert_int_equal(program->task[1].end, 4);
    assert_int_equal(program->task[1].owner, 0);
    assert_false(program->task[1].endless);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(program->ops[i].a, 2);
    }
    assert_int_equal(program->ops[3].a, 0);
    assert_int_equal(scenario.options.program[1].tasks, 1);
    scenario_close(&scenario);
}

static void refuses_wrong_programs_of_owners(void **state)
{
    (void)state;
    refuse("mutex /l/x\nprocess a owner=8: acquire\n", "s:2:17: expected an owner from 0 to 7, found '8'");
    refuse("mutex /l/x\nprocess owner=1: acquire\n",
           "s:2:9: expected a new name of 1 to 15 letters, digits, '-' or '_' that is no word of the "
           "language, found 'owner=1'");
    refuse("mutex /l/x\nprocess a owner=1\n",
           "s:2:18: expected ':' and the operations of this owner, found the end of the line");
    refuse("mutex /l/x\nprocess a owner=1 b: acquire\n",
           "s:2:19: expected ':' and the operations of this owner, found 'b'");
    refuse("mutex /l/x\nprocess a owner=1: acquire owner=2\n",
           "s:2:28: expected the owner whose program this is, found 'owner=2'");
    refuse("mutex /l/x\nprocess a: acquire\nprocess a owner=1: acquire\n",
           "s:3:20: expected a process without a program for all its owners, found 'acquire'");
    refuse("mutex /l/x\nprocess a owner=1: acquire\nprocess a owner=1: release\n",
           "s:3:20: expected an owner of this process who has no program yet, found 'release'");
    refuse("mutex /l/x\nprocess a owner=1: acquire\nprocess a: release\n",
           "s:3:9: expected a new name of 1 to 15 letters, digits, '-' or '_' that is no word of the "
           "language, found 'a'");
    refuse("mutex /l/x\nprocess a owner=0: try\nprocess a owner=1: try\nprocess a owner=2: try\n"
           "process a owner=3: try\nprocess a owner=4: try\n",
           "s:6:20: expected at most 4 owners with programs, found 'try'");
    refuse("mutex /l/x\nprocess a owner=0: try try try try try try try try try\n"
           "process a owner=1: try try try try try try try try\n",
           "s:3:20: expected at most 16 operations in all of a process, found 'try'");
}

static void refuses_wrong_headers(void **state)
{
    (void)state;
    refuse("world servers=6\n", "s:1:15: expected a number of servers from 1 to 5, found '6'");
    refuse("world servers=three\n", "s:1:15: expected a number of servers from 1 to 5, found 'three'");
    refuse("world latency=10\n",
           "s:1:15: expected a duration up to a day with its unit (ms, s or m), found '10'");
    refuse("world latency=10h\n",
           "s:1:15: expected a duration up to a day with its unit (ms, s or m), found '10h'");
    refuse("world latency=0ms\n", "s:1:15: expected a duration longer than nothing, found '0ms'");
    refuse("world latency=9ms..5ms\n",
           "s:1:15: expected the smaller latency before the larger, found '9ms..5ms'");
    refuse("world latency=9ms..x\n",
           "s:1:20: expected a duration up to a day with its unit (ms, s or m), found 'x'");
    refuse("world tick=1441m\n",
           "s:1:12: expected a duration up to a day with its unit (ms, s or m), found '1441m'");
    refuse("world seed=-1\n", "s:1:12: expected a number that is not negative, found '-1'");
    refuse("world rc=-5\n", "s:1:10: expected -4 or -7, found '-5'");
    refuse("world preset=2147483648\n", "s:1:14: expected a 32-bit number, found '2147483648'");
    refuse("world containers=maybe\n", "s:1:18: expected yes or no, found 'maybe'");
    refuse("world defects=wrap,rust\n", "s:1:20: expected wrap, immortal, silent-session, drop-at-close, "
                                        "missed-watch or half-list, found 'rust'");
    refuse("world fine timed\nmutex /l/x\nprocess a: acquire\n" TAIL,
           "s:1:7: expected a world without a clock (untimed) for this, found 'fine'");
    refuse("world timed untimed\n", "s:1:13: expected one of timed and untimed, found 'untimed'");
    refuse(
        "world sevrers=1\n",
        "s:1:7: expected servers=, latency=, session-timeout=, tick=, seed=, rc=, preset=, "
        "crowd=, containers=, defects=, settings=, timed, untimed, used, fine, callbacks-in-init, keep-fresh "
        "or timers-first, found 'sevrers=1'");
    refuse("mutex locks\n",
           "s:1:7: expected an absolute path (/locks/x) of at most 100 bytes, found 'locks'");
    refuse("mutex /a//b\n",
           "s:1:7: expected an absolute path (/locks/x) of at most 100 bytes, found '/a//b'");
    refuse("mutex /a/../b\n",
           "s:1:7: expected an absolute path (/locks/x) of at most 100 bytes, found '/a/../b'");
    refuse("mutex /a/x\nmutex /b/x\n",
           "s:2:10: expected a new name of 1 to 15 letters, digits, '-' or '_' that is no "
           "word of the language, found 'x'");
    refuse("mutex /\n", "s:1:7: expected a path (/locks/x), or '/' behind a line 'chroot PATH', found '/'");
    refuse("chroot /app\nmutex /\nmutex /l/x\n",
           "s:3:7: expected no other lock beside one at '/', found '/l/x'");
    refuse("chroot /app\nmutex /l/x\nmutex /\n",
           "s:3:7: expected no other lock beside one at '/', found '/'");
    refuse("mutex /a/x\nmutex /a/x as y\n", "s:2:7: expected a path that no other lock has, found '/a/x'");
    refuse("mutex /a/x is y\n", "s:1:12: expected 'as' or the end of the line, found 'is'");
    refuse("contents hello\n", "s:1:10: expected a text of at most 64 bytes in double quotes, found 'hello'");
    refuse("process\n", "s:1:8: expected the name of a process, found the end of the line");
    refuse("mutex /locks/x\nprocess : acquire release\n----\n",
           "s:2:9: expected the name of a process, found ''");
    refuse("process a settle\n",
           "s:1:11: expected a new name of 1 to 15 letters, digits, '-' or '_' that is no word of "
           "the language, found 'settle'");
    refuse("process abcdefghijklmnop\n",
           "s:1:9: expected a new name of 1 to 15 letters, digits, '-' or '_' that is no "
           "word of the language, found 'abcdefghijklmnop'");
    refuse("process a asleep b\n", "s:1:18: expected ':' or the end of the line, found 'b'");
    refuse("mutex /l/x\nprocess a: jump\n", "s:2:12: expected an operation, found 'jump'");
    refuse("mutex /l/x\nprocess a: acquire cancel\n", "s:2:20: expected an operation of a program (a cancel "
                                                      "is a fault: explore cancel<=N), found 'cancel'");
    refuse("mutex /l/x\nprocess a:\n", "s:2:11: expected an operation, found the end of the line");
    refuse("process a: acquire\n",
           "s:1:19: expected the name of a lock (there are several, or none yet), found the end of the line");
    refuse("explore rain<=1\n",
           "s:1:9: expected a fault with a budget (see lockstep list faults) or total, found 'rain'");
    refuse("explore loss=1\n", "s:1:9: expected FAULT<=N, found 'loss=1'");
    refuse("explore\n", "s:1:8: expected FAULT<=N, found the end of the line");
    refuse("explore loss<=1 loss<=2\n", "s:1:17: expected each fault once, found 'loss'");
    refuse("explore constants=0\n", "s:1:19: expected a number from 1 to 64, found '0'");
    refuse("explore constants=65\n", "s:1:19: expected a number from 1 to 64, found '65'");
    refuse("explore constants=2 constants=2\n", "s:1:21: expected constants once, found 'constants=2'");
    refuse("explore loss<=10\n", "s:1:15: expected a number from 0 to 9, found '10'");
    refuse("show everything\n", "s:1:6: expected asks, belief, faults, nodes, requests, sessions, watches, "
                                "rest, all or nothing, found 'everything'");
    refuse("show nothing asks\n", "s:1:14: expected the end of the line, found 'asks'");
    refuse("node locks\n", "s:1:6: expected an absolute path (/locks/x) of at most 100 bytes, found 'locks'");
    refuse("node /a perm=1\n", "s:1:9: expected perms=N or the end of the line, found 'perm=1'");
    refuse("node /a perms=32\n", "s:1:15: expected permission bits from 1 to 31, found '32'");
    refuse("node /a perms=1 /b\n", "s:1:17: expected the end of the line, found '/b'");
    refuse("node /a\nnode /b\nnode /c\nnode /d\nnode /e\n", "s:5:6: expected at most 4 nodes, found '/e'");
    refuse("properties no_bugs\n",
           "s:1:12: expected the name of a property (see lockstep list properties), found 'no_bugs'");
}

static void refuses_wrong_commands(void **state)
{
    (void)state;
    refuse(HEAD "a jump\n----\n",
           "s:3:3: expected acquire, try, release, downgrade, cancel, write, revocable, revoke, resize, "
           "close, open, stop or start, found 'jump'");
    refuse(HEAD "settle\nc acquire\n----\n",
           "s:4:1: expected a command (see lockstep list verbs) or the name of a process, found 'c'");
    refuse(HEAD "c acquire\n----\n",
           "s:3:1: expected a header line (world, mutex, process, ...), a command or '----', found 'c'");
    refuse(HEAD "a acquire y\n----\n",
           "s:3:11: expected the name of a lock, an option or the end of the line, found 'y'");
    refuse(HEAD "a acquire timeout=2\n----\n",
           "s:3:19: expected a duration up to a day with its unit (ms, s or m), found '2'");
    refuse(HEAD "a downgrade\n----\n",
           "s:3:12: expected the name of a read-write lock, found the end of the line");
    refuse(HEAD "a downgrade x\n----\n", "s:3:13: expected the name of a read-write lock, found 'x'");
    refuse("rwlock /locks/x\nprocess a\na downgrade x.read\n----\n",
           "s:3:13: expected the name of a read-write lock, found 'x.read'");
    refuse("rwlock /locks/x\nprocess a\na downgrade x timeout=1s\n----\n",
           "s:3:15: expected owner=N, found 'timeout=1s'");
    refuse("rwlock /locks/x\nprocess a\na downgrade x on granted: release\n----\n",
           "s:3:15: expected the name of a lock, an option or the end of the line, found 'on'");
    refuse("rwlock /locks/x\nprocess a: acquire x.write stop start stop start stop start stop start stop "
           "start stop "
           "start stop start downgrade x\n----\n",
           "s:2:105: expected at most 16 operations, found 'downgrade'");
    refuse(HEAD "a release now=1\n----\n", "s:3:11: expected owner=N or anyway, found 'now=1'");
    refuse(HEAD "a try timeout=2s\n----\n", "s:3:7: expected owner=N or nowait, found 'timeout=2s'");
    refuse(HEAD "a acquire late=1\n----\n",
           "s:3:11: expected owner=N, timeout=DURATION or nowait, found 'late=1'");
    refuse(
        HEAD "a acquire on granted: release\n----\n",
        "s:3:30: expected no 'on granted:' or 'on failed:' outside of a program, found the end of the line");
    refuse(
        HEAD "a acquire on failed: release\n----\n",
        "s:3:29: expected no 'on granted:' or 'on failed:' outside of a program, found the end of the line");
    refuse("mutex /locks/x\nprocess a: acquire on release\n----\n",
           "s:2:23: expected 'granted:' or 'failed:', found 'release'");
    refuse("mutex /locks/x\nprocess a: acquire on granted: release on granted: cancel\n----\n",
           "s:2:43: expected each of 'granted:' and 'failed:' once, found 'granted:'");
    refuse(
        "mutex /locks/x\nprocess a: acquire on failed: close on granted: release on failed: acquire\n----\n",
        "s:2:60: expected each of 'granted:' and 'failed:' once, found 'failed:'");
    refuse("mutex /locks/x\nprocess a: acquire on granted: try\n----\n",
           "s:2:32: expected acquire, release, cancel or close, found 'try'");
    refuse("mutex /locks/x\nprocess a: acquire on failed: try\n----\n",
           "s:2:31: expected acquire, release, cancel or close, found 'try'");
    refuse(HEAD "a write timeout=1s\n----\n",
           "s:3:9: expected owner=N, guarded or nowait, found 'timeout=1s'");
    refuse(HEAD "a release owner=8\n----\n", "s:3:17: expected an owner from 0 to 7, found '8'");
    refuse(HEAD "cut\n----\n", "s:3:4: expected the name of a process, found the end of the line");
    refuse(HEAD "cut c\n----\n", "s:3:5: expected the name of a process, found 'c'");
    refuse(HEAD "cut a rc=-112\n----\n", "s:3:10: expected -4 or -7, found '-112'");
    refuse(HEAD "cut a keep=-1\n----\n", "s:3:12: expected a number of replies from 0 to 99, found '-1'");
    refuse(HEAD "cut a often\n----\n",
           "s:3:7: expected keep=K, apply=J, rc=-4, rc=-7, late or link=N, found 'often'");
    refuse(HEAD "cut a late\n----\n", "s:3:11: expected apply=J with late: the last of J requests is the "
                                      "late one, found the end of the line");
    refuse(HEAD "expire a now\n----\n", "s:3:10: expected the end of the line, found 'now'");
    refuse(HEAD "fail-call a n=256\n----\n", "s:3:15: expected a number from 1 to 255, found '256'");
    refuse(HEAD "fail-alloc a n=0\n----\n", "s:3:16: expected a number from 1 to 255, found '0'");
    refuse(HEAD "freeze s2\n----\n", "s:3:8: expected the server s1, found 's2'");
    refuse("world servers=2\n" HEAD "freeze s3\n----\n", "s:4:8: expected a server, s1 to s2, found 's3'");
    refuse(HEAD "sweep y\n----\n", "s:3:7: expected the name of a lock, found 'y'");
    refuse(HEAD "create x\n----\n",
           "s:3:8: expected an absolute path (/locks/x) of at most 100 bytes, found 'x'");
    refuse(HEAD "create /x perms=32\n----\n", "s:3:17: expected permission bits from 1 to 31, found '32'");
    refuse(HEAD "advance soon\n----\n",
           "s:3:9: expected a duration up to a day with its unit (ms, s or m), found 'soon'");
    refuse(HEAD "before\n----\n",
           "s:3:7: expected the label of an action (deliver a create-reply), found the end of the line");
    refuse(HEAD "settle\nmutex /locks/y\n----\n",
           "s:4:1: expected a command (see lockstep list verbs) or the name of a process, found 'mutex'");
}

static void refuses_wrong_shapes(void **state)
{
    (void)state;
    refuse(
        "# nothing but a comment\n",
        "s:2:1: expected a scenario (mutex PATH, process NAME, commands, ----), found the end of the file");
    refuse(HEAD, "s:3:1: expected '----' and what is expected, found the end of the file");
    refuse(HEAD "settle\n", "s:4:1: expected '----' and the expected trace, found the end of the file");
    refuse(HEAD "settle\n----\n\na try\n",
           "s:7:1: expected '----' and the expected trace, found the end of the file");
    refuse(HEAD "----\n", "s:3:1: expected a command before the expected trace, found '----'");
    refuse(HEAD "settle\n---- now\n", "s:4:6: expected the end of the line, found 'now'");
    refuse("process a\nsettle\n----\n", "s:2:1: expected a line 'mutex PATH' before this, found 'settle'");
    refuse("mutex /l/x\nsettle\n----\n", "s:2:1: expected a line 'process NAME' before this, found 'settle'");
    refuse(
        HEAD "explore loss<=1\n----\n",
        "s:4:1: expected a process with a program (process a b: acquire release) before this, found '----'");
    refuse("mutex /l/x\nprocess a: acquire\nsettle\n----\n",
           "s:3:1: expected '----': a file with client programs has no commands, found 'settle'");
    refuse(HEAD "settle\n----\nrest\n----\n",
           "s:5:1: expected an empty line before the next command, found 'rest'");
    refuse(HEAD "settle\n----\n[    0ms] a held\n----\n",
           "s:6:1: expected an empty line before the next command, found '----'");
    refuse("world untimed\n" HEAD "settle\n----\na try\n",
           "s:6:1: expected an empty line before the next command, found 'a'");
    refuse(HEAD "settle\n----\na held\n",
           "s:5:1: expected '[' and a time, 'holds', 'violates' or an empty line, found 'a'");
    refuse("mutex /l/x\nprocess a: acquire\n----\nholds no_bugs\n",
           "s:4:7: expected the name of a property (see lockstep list properties), found 'no_bugs'");
    refuse("mutex /l/x\nprocess a: acquire\n----\nhopes bounded_work\n",
           "s:4:1: expected 'holds', 'violates', 'states', 'transitions' or 'not-tried', found 'hopes'");
    refuse("mutex /l/x\nprocess a: acquire\n----\nholds bounded_work\n\n----\n",
           "s:6:1: expected one expected part, found '----'");
    refuse("mutex /l/x\nprocess a: acquire\n----\nstates\n",
           "s:4:7: expected a number that is not negative, found the end of the line");
    refuse("mutex /l/x\nprocess a: acquire\n----\nstates -1\n",
           "s:4:8: expected a number that is not negative, found '-1'");
    refuse("mutex /l/x\nprocess a: acquire\n----\ntransitions 99999999999999999999\n",
           "s:4:13: expected a number that is not negative, found '99999999999999999999'");
    refuse("mutex /l/x\nprocess a: acquire\n----\nstates 5 6\n",
           "s:4:10: expected the end of the line, found '6'");
    refuse("mutex /l/x\nprocess a: acquire\n----\nstates 5\ntransitions 9\nstates 5\n",
           "s:6:1: expected each count once, found 'states'");
    refuse(HEAD "settle\n----\nstates 5\n",
           "s:5:1: expected '[' and a time, 'holds', 'violates' or an empty line, found 'states'");
    refuse(HEAD "settle\n----\nholds bounded_work\nviolates bounded_work\n",
           "s:6:1: expected no property that both holds and is violated, found 'violates'");
}

static void write_wrong_lines(const char *path, const char *before, int lines)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s", before);
    for (int i = 0; i < lines; i++) {
        fprintf(file, "wrong\n");
    }
    fprintf(file, "\nwrong\nwrong\n");
    assert_int_equal(fclose(file), 0);
}

static void keeps_no_more_mistakes_than_fit(void **state)
{
    (void)state;
    static const char *const BEFORE[] = {HEAD "settle" TAIL, HEAD "settle\n"};
    static struct {
        struct input_mistakes list;
        char guard[4 * INPUT_ERROR_MAX];
    } mistakes;
    char path[] = "test_parse.XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    for (int lines = 1; lines <= INPUT_MISTAKES_MAX + 2; lines++) {
        for (int i = 0; i < 2; i++) {
            write_wrong_lines(path, BEFORE[i], lines);
            memset(mistakes.guard, 7, sizeof mistakes.guard);
            assert_int_equal(scenario_read(&scenario, path, &mistakes.list), -1);
            int wrong = lines + 2;
            assert_int_equal(mistakes.list.count, wrong < INPUT_MISTAKES_MAX ? wrong : INPUT_MISTAKES_MAX);
            for (size_t at = 0; at < sizeof mistakes.guard; at++) {
                assert_int_equal(mistakes.guard[at], 7);
            }
        }
    }
    assert_int_equal(unlink(path), 0);
}

static void summary_is_the_first_sentence(void **state)
{
    (void)state;
    char text[200];
    take("# The holder sleeps\n#  for 2.5 seconds. Then it wakes.\n" HEAD "settle" TAIL);
    assert_string_equal(scenario_summary(&scenario, text, sizeof text), "The holder sleeps for 2.5 seconds.");
    assert_string_equal(scenario_summary(&scenario, text, 10), "The holde");
    scenario_close(&scenario);
    take(HEAD "settle" TAIL);
    assert_string_equal(scenario_summary(&scenario, text, sizeof text), "");
    scenario_close(&scenario);
}

static void masks_follow_the_mode(void **state)
{
    (void)state;
    take(HEAD "settle" TAIL);
    assert_int_equal(scenario_mask(&scenario, false), check_default_mask(true));
    assert_int_equal(scenario_mask(&scenario, true), check_default_mask(false));
    scenario_close(&scenario);
    take("properties bounded_work at_most_one_believer\n" HEAD "settle\n----\nholds no_orphan_node\n");
    check_mask named = CHECK_BIT(check_position("bounded_work"));
    assert_int_equal(scenario_mask(&scenario, true), named);
    assert_int_equal(scenario_mask(&scenario, false), named |
                                                          CHECK_BIT(check_position("at_most_one_believer")) |
                                                          CHECK_BIT(check_position("no_orphan_node")));
    scenario_close(&scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_header),
        cmocka_unit_test(reads_every_command),
        cmocka_unit_test(reads_running_commands),
        cmocka_unit_test(reads_a_downgrade_as_two_actions),
        cmocka_unit_test(reads_groups_and_claims),
        cmocka_unit_test(refuses_what_cannot_happen),
        cmocka_unit_test(refuses_a_clock_that_is_not_there),
        cmocka_unit_test(reads_programs),
        cmocka_unit_test(reads_programs_of_owners),
        cmocka_unit_test(refuses_wrong_programs_of_owners),
        cmocka_unit_test(refuses_wrong_headers),
        cmocka_unit_test(refuses_wrong_commands),
        cmocka_unit_test(refuses_wrong_shapes),
        cmocka_unit_test(keeps_no_more_mistakes_than_fit),
        cmocka_unit_test(summary_is_the_first_sentence),
        cmocka_unit_test(masks_follow_the_mode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
