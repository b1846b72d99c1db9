/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "fuzz/input_format.h"

#include "base/assert.h"
#include "coord/coordinator.h"

#include <lockstep/sim.h>
#include <stdarg.h>
#include <stdio.h>

/* Bytes of the header that set the own options of a coordinator other than ZooKeeper. */
static const uint8_t OWN_BYTES[] = {1, 3};

/* Programs of clients. x and y are the locks; in a world with one lock, y becomes x. */
static const char *const PROGRAMS[] = {
    "acquire x release x",
    "acquire x release x acquire x release x",
    "try x release x acquire x release x",
    "acquire x timeout=1s release x",
    "acquire x timeout=1s release x acquire x timeout=1s release x",
    "acquire x acquire x release x release x",
    "acquire x acquire y owner=1 release x release y owner=1",
    "acquire x owner=1 acquire x timeout=1s release x owner=1 release x",
    "acquire y release y acquire x release x",
    "acquire x acquire y release y release x",
    "acquire x write x release x",
    "acquire x write x guarded release x",
    "acquire x stop start acquire x release x",
    "acquire x release x stop",
    "stop start acquire x release x",
    "acquire x release x anyway acquire x release x",
    "revocable x acquire x release x",
    "revoke x acquire x release x revoke x",
    "acquire x release x acquire x release x acquire x release x",
    "try x release x try x release x try x release x",
    "acquire x timeout=1s acquire x owner=1 timeout=1s release x release x owner=1",
    "acquire x acquire x owner=1 acquire x owner=2 release x release x owner=1 release x owner=2",
    "acquire x write x acquire x write x guarded release x write x release x",
    "acquire x timeout=1s release x anyway stop start try x release x",
    "acquire x nowait acquire x owner=1 nowait release x release x owner=1",
    "acquire x nowait stop start acquire x release x",
    "acquire x nowait revoke x release x",
    "acquire x write x guarded nowait release x",
};

#define PROGRAM_COUNT ((int)(sizeof PROGRAMS / sizeof PROGRAMS[0]))

static const int32_t SEQUENCES[] = {0, 0, 0, 8, 99998, 32766, 65534, 2147483645};

struct header {
    const struct coordinator *coordinator;
    bool is_zookeeper; /* options of servers and directories have a meaning */
    uint8_t byte[FUZZ_HEADER];
};

/* A node in the directory of the lock x that is no contender. */
#define STRANGER "/locks/x/content"

struct text {
    char *out;
    size_t length;
};

static void say(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text->out + text->length, FUZZ_TEXT_MAX - text->length, format, arguments);
    va_end(arguments);
    LS_ASSERT(size >= 0 && text->length + (size_t)size < FUZZ_TEXT_MAX);
    text->length += (size_t)size;
}

static void put(struct text *text, char c)
{
    LS_ASSERT(text->length + 1 < FUZZ_TEXT_MAX);
    text->out[text->length++] = c;
    text->out[text->length] = 0;
}

int fuzz_programs(void)
{
    return PROGRAM_COUNT;
}

uint8_t fuzz_sequence_byte(int32_t preset)
{
    size_t nearest = 0;
    for (size_t i = 1; i < sizeof SEQUENCES / sizeof SEQUENCES[0]; i++) {
        int64_t here = (int64_t)SEQUENCES[i] - preset, best = (int64_t)SEQUENCES[nearest] - preset;
        if ((here < 0 ? -here : here) < (best < 0 ? -best : best)) {
            nearest = i;
        }
    }
    return (uint8_t)nearest;
}

static int servers_of(const struct header *header)
{
    return header->is_zookeeper ? 1 + header->byte[1] % 3 : 1;
}

static bool has(const struct header *header, unsigned bit)
{
    return (header->byte[2] & bit) != 0;
}

/* Returns the i-th own option of the coordinator; NULL behind the last that has a byte. */
static const struct coord_option *own_option(const struct header *header, size_t i)
{
    const struct coord_option *options = header->coordinator->options;
    return options != NULL && i < sizeof OWN_BYTES && options[i].name != NULL ? &options[i] : NULL;
}

static int32_t own_value(const struct header *header, size_t i)
{
    const struct coord_option *option = own_option(header, i);
    LS_ASSERT(option != NULL && option->most >= option->least);
    uint8_t byte = header->byte[OWN_BYTES[i]];
    int64_t values = (int64_t)option->most - option->least + 1;
    return byte == 0 ? option->usual : (int32_t)(option->least + byte % values);
}

static void say_own_options(struct text *text, const struct header *header)
{
    for (size_t i = 0; own_option(header, i) != NULL; i++) {
        say(text, " %s=%d", own_option(header, i)->name, own_value(header, i));
    }
}

static void say_world(struct text *text, const struct header *header)
{
    int32_t sequence = SEQUENCES[header->byte[3] % (sizeof SEQUENCES / sizeof SEQUENCES[0])];
    if (!header->is_zookeeper) {
        say(text, "coordinator %s\nworld seed=%d untimed", header->coordinator->name, header->byte[8]);
        say_own_options(text, header);
        say(text, "\n");
        return;
    }
    say(text, "world servers=%d seed=%d rc=%d untimed", servers_of(header), header->byte[8],
        has(header, FUZZ_MINUS_SEVEN) ? -7 : -4);
    if (sequence != 0) {
        say(text, " preset=%d", sequence);
    } else if (has(header, FUZZ_USED)) {
        say(text, " used");
    }
    say(text, "%s%s%s", has(header, FUZZ_NO_CONTAINERS) ? " containers=no" : "",
        has(header, FUZZ_CALLBACKS_IN_INIT) ? " callbacks-in-init" : "",
        has(header, FUZZ_KEEP_FRESH) ? " keep-fresh" : "");
    if (has(header, FUZZ_WRAP) && sequence > 0) {
        say(text, " defects=wrap");
    }
    say(text, "\n");
}

static void say_program(struct text *text, const char *program, bool two)
{
    for (const char *at = program; *at != 0; at++) {
        bool name = *at == 'y' && (at == program || at[-1] == ' ') && (at[1] == ' ' || at[1] == 0);
        put(text, name && !two ? 'x' : *at);
    }
}

/* Returns whether runs of this world may have the fault: not if it is left out below, nor if the parser would
 * refuse a budget for it. */
static bool can_happen(const struct header *header, enum world_fault fault)
{
    struct world_options options = {.coordinator = header->coordinator->name,
                                    .servers = servers_of(header),
                                    .no_containers = has(header, FUZZ_NO_CONTAINERS)};
    for (size_t i = 0; own_option(header, i) != NULL; i++) {
        options.own[i] = own_value(header, i);
    }
    switch (fault) {
    case WORLD_FAULT_RMDIR: /* these five kinds are left out, so that older inputs keep their meaning */
    case WORLD_FAULT_EVICT:
    case WORLD_FAULT_TOUCH:
    case WORLD_FAULT_CALL:
    case WORLD_FAULT_RESTRICT:
        return false;
    default:
        return coordinator_lacking(&options, fault) == NULL;
    }
}

/* Returns the bit of a fault in bytes 4 and 5. An own fault of a coordinator has the bit of a common kind
 * that can_happen() leaves out. */
static unsigned bit_of(enum world_fault fault)
{
    LS_ASSERT(fault < WORLD_FAULTS);
    return fault < WORLD_FAULT_OWN ? fault : 15 - (fault - WORLD_FAULT_OWN) % 5;
}

static void say_budgets(struct text *text, const struct header *header)
{
    unsigned absent = header->byte[4] | (unsigned)header->byte[5] << 8;
    int total = (header->byte[7] + 3) % 10, most = 1 + header->byte[6] % 3;
    most = most < total ? most : total;
    LS_ASSERT(most >= 0 && most <= total);
    say(text, "explore");
    bool any = false;
    for (int fault = 0; fault < WORLD_FAULTS && total > 0; fault++) {
        if ((absent >> bit_of((enum world_fault)fault) & 1) == 0 &&
            can_happen(header, (enum world_fault)fault)) {
            say(text, " %s<=%d", world_fault_name((enum world_fault)fault), most);
            any = true;
        }
    }
    if (any) {
        say(text, " total<=%d", total);
    } else {
        say(text, " loss<=0");
    }
    say(text, "\n----\n");
}

size_t fuzz_scenario_text(const char *coordinator, const uint8_t *bytes, size_t size, char out[FUZZ_TEXT_MAX])
{
    struct text text = {.out = out};
    struct header header = {.coordinator = coordinator_find(coordinator),
                            .is_zookeeper = coordinator_find(coordinator) == coordinator_find(NULL)};
    for (size_t i = 0; i < FUZZ_HEADER; i++) {
        header.byte[i] = i < size ? bytes[i] : 0;
    }
    LS_ASSERT(header.coordinator != NULL);
    bool two = has(&header, FUZZ_TWO_LOCKS);
    say_world(&text, &header);
    say(&text, "mutex /locks/x\n%s%s", two ? "mutex /locks/y\n" : "",
        has(&header, FUZZ_STRANGER) && header.is_zookeeper ? "node " STRANGER "\n" : "");
    for (int i = 0; i < 2 + header.byte[0] % (FUZZ_CLIENTS_MAX - 1); i++) {
        say(&text, "process %c: ", 'a' + i);
        say_program(&text, PROGRAMS[header.byte[9 + i] % PROGRAM_COUNT], two);
        say(&text, "\n");
    }
    say_budgets(&text, &header);
    return text.length;
}
