/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "fakeredis/script.h"

#include "base/assert.h"
#include "fakeredis/command.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MEMORY_ADDRESS 0x7d0000000000ull
#define MEMORY_BYTES ((size_t)4 << 20)
#define STEPS_MAX 5000000 /* instructions of one script */

static struct known {
    struct known *next;
    unsigned char digest[DIGEST_BYTES];
    size_t size;
    char text[];
} * all_known;

static struct known *find_known(const unsigned char digest[DIGEST_BYTES])
{
    struct known *known = all_known;
    while (known != NULL && memcmp(known->digest, digest, DIGEST_BYTES) != 0) {
        known = known->next;
    }
    return known;
}

bool script_learn(struct bytes text, unsigned char digest[DIGEST_BYTES])
{
    SHA1((const unsigned char *)text.at, text.size, digest);
    if (find_known(digest) != NULL) {
        return true;
    }
    struct known *known = text.size <= SCRIPT_BYTES_MAX ? malloc(sizeof *known + text.size) : NULL;
    if (known == NULL) {
        return false;
    }
    memcpy(known->digest, digest, DIGEST_BYTES);
    known->size = text.size;
    memcpy(known->text, text.at, text.size);
    known->next = all_known;
    all_known = known;
    return true;
}

struct bytes script_text(const unsigned char digest[DIGEST_BYTES])
{
    const struct known *known = find_known(digest);
    return known != NULL ? (struct bytes){known->text, known->size} : (struct bytes){NULL, 0};
}

static void write_digits(const unsigned char digest[DIGEST_BYTES], char digits[DIGEST_DIGITS + 1])
{
    for (size_t i = 0; i < DIGEST_BYTES; i++) {
        snprintf(digits + 2 * i, 3, "%02x", digest[i]);
    }
}

static bool read_digits(struct bytes text, unsigned char digest[DIGEST_BYTES])
{
    if (text.size != DIGEST_DIGITS) {
        return false;
    }
    for (size_t i = 0; i < DIGEST_DIGITS; i++) {
        static const char digits[] = "0123456789abcdef0123456789ABCDEF";
        const char *digit = text.at[i] != 0 ? strchr(digits, text.at[i]) : NULL;
        if (digit == NULL) {
            return false;
        }
        unsigned value = (unsigned)(digit - digits) % 16;
        digest[i / 2] = (unsigned char)(i % 2 == 0 ? value << 4 : digest[i / 2] | value);
    }
    return true;
}

/* ---- the interpreter and its memory ---- */

static struct {
    unsigned char *memory; /* MEMORY_BYTES */
    size_t used;
    unsigned char *image; /* the first `image_used` bytes of the memory after the libraries were opened */
    size_t image_used;
    lua_State *lua;           /* NULL = not opened yet */
    unsigned short random[3]; /* state of nrand48() */
    struct call *call;        /* EVAL or EVALSHA of the script that runs; NULL = none runs */
    bool stopped;             /* a script was stopped: script_was_stopped() */
} the;

/* Takes memory from the front and frees none: fresh_interpreter() puts the image back for each script. */
static void *allocate(void *ctx, void *old, size_t old_size, size_t size)
{
    (void)ctx;
    size_t room = (size + 15) / 16 * 16;
    LS_ASSERT(the.used <= MEMORY_BYTES);
    if (size == 0 || (old != NULL && size <= old_size)) {
        return size == 0 ? NULL : old;
    }
    if (room > MEMORY_BYTES - the.used) {
        the.stopped = true;
        return NULL;
    }
    unsigned char *memory = the.memory + the.used;
    the.used += room;
    if (old != NULL) {
        memcpy(memory, old, old_size);
    }
    return memory;
}

/* Ends a script that runs too long. Each later instruction fails too, in case the script catches the
 * error. */
static void stop_long(lua_State *lua, lua_Debug *debug)
{
    (void)debug;
    the.stopped = true;
    lua_sethook(lua, stop_long, LUA_MASKCOUNT, 1);
    luaL_error(lua, "the script runs for too long");
}

bool script_was_stopped(void)
{
    bool stopped = the.stopped;
    the.stopped = false;
    return stopped;
}

/* Converts a value of Lua to a reply (R7). */
static void reply_from(lua_State *lua, struct reply *reply, int depth);

static bool reply_field(lua_State *lua, const char *field, enum reply_type type, struct reply *reply)
{
    size_t size;
    lua_pushstring(lua, field);
    lua_rawget(lua, -2);
    bool is = lua_type(lua, -1) == LUA_TSTRING;
    if (is) {
        const char *text = lua_tolstring(lua, -1, &size);
        if (type == REPLY_ERROR) {
            reply_error(reply, "%.*s", (int)size, text);
        } else {
            char line[512];
            size_t kept = size < sizeof line ? size : sizeof line;
            for (size_t i = 0; i < kept; i++) {
                line[i] = text[i] == '\r' || text[i] == '\n' ? ' ' : text[i];
            }
            reply_bytes(reply, REPLY_STATUS, (struct bytes){line, kept});
        }
    }
    lua_pop(lua, 1);
    return is;
}

static void reply_table(lua_State *lua, struct reply *reply, int depth)
{
    uint32_t count = 0;
    if (reply_field(lua, "err", REPLY_ERROR, reply) || reply_field(lua, "ok", REPLY_STATUS, reply)) {
        return;
    }
    for (bool more = true; more; lua_pop(lua, 1)) {
        lua_rawgeti(lua, -1, (int)count + 1);
        more = !lua_isnil(lua, -1);
        count += more;
    }
    reply_array(reply, count);
    for (uint32_t i = 1; i <= count; i++) {
        lua_rawgeti(lua, -1, (int)i);
        reply_from(lua, reply, depth + 1);
        lua_pop(lua, 1);
    }
}

/* Writes the value on top of the stack as a reply. `depth` = number of arrays around it. */
static void reply_from(lua_State *lua, struct reply *reply, int depth)
{
    size_t size;
    LS_ASSERT(depth <= REPLY_DEPTH_MAX);
    switch (lua_type(lua, -1)) {
    case LUA_TSTRING: {
        const char *text = lua_tolstring(lua, -1, &size);
        reply_bytes(reply, REPLY_BULK, (struct bytes){text, size});
        break;
    }
    case LUA_TNUMBER:
        reply_integer(reply, (int64_t)lua_tonumber(lua, -1));
        break;
    case LUA_TBOOLEAN:
        if (lua_toboolean(lua, -1)) {
            reply_integer(reply, 1);
        } else {
            reply_nil(reply);
        }
        break;
    case LUA_TTABLE:
        if (depth >= REPLY_DEPTH_MAX) {
            reply->full = true;
        } else {
            reply_table(lua, reply, depth);
        }
        break;
    default:
        reply_nil(reply);
        break;
    }
}

static void push_field(lua_State *lua, const char *field, struct bytes text)
{
    lua_newtable(lua);
    lua_pushstring(lua, field);
    lua_pushlstring(lua, text.at, text.size);
    lua_rawset(lua, -3);
}

/* Pushes the reply that begins at `at`. Returns the position behind it. */
static size_t push_item(lua_State *lua, const unsigned char *items, size_t at)
{
    const struct reply_item *item = reply_item(items, at);
    size_t next = reply_next(items, at);
    switch ((enum reply_type)item->type) {
    case REPLY_NIL:
    case REPLY_NIL_ARRAY:
        lua_pushboolean(lua, 0);
        break;
    case REPLY_STATUS:
        push_field(lua, "ok", reply_text(item));
        break;
    case REPLY_ERROR:
        push_field(lua, "err", reply_text(item));
        break;
    case REPLY_INTEGER:
        lua_pushnumber(lua, (lua_Number)reply_number(item));
        break;
    case REPLY_BULK:
        lua_pushlstring(lua, reply_text(item).at, reply_text(item).size);
        break;
    case REPLY_ARRAY:
        lua_newtable(lua);
        for (uint32_t i = 1; i <= item->size; i++) {
            next = push_item(lua, items, next);
            lua_rawseti(lua, -2, (int)i);
        }
        break;
    }
    return next;
}

static int push_error(lua_State *lua, const char *text)
{
    push_field(lua, "err", (struct bytes){text, strlen(text)});
    return 1;
}

/* Takes arguments from Lua's stack, with numbers as Redis writes them. Returns their number, which may be
 * more than COMMAND_ARGS_MAX; -1 = one is neither a number nor a string. */
static int take_args(lua_State *lua, struct bytes *argv, char (*numbers)[KEY_DIGITS_MAX + 16])
{
    int argc = lua_gettop(lua);
    for (int i = 0; i < argc && i < COMMAND_ARGS_MAX; i++) {
        if (lua_type(lua, i + 1) == LUA_TNUMBER) {
            int size = snprintf(numbers[i], sizeof numbers[i], "%.17g", (double)lua_tonumber(lua, i + 1));
            argv[i] = (struct bytes){numbers[i], (size_t)size};
        } else if (lua_type(lua, i + 1) == LUA_TSTRING) {
            argv[i].at = lua_tolstring(lua, i + 1, &argv[i].size);
        } else {
            return -1;
        }
    }
    return argc;
}

static void run_command(struct call *call)
{
    const struct command *command = command_find(call);
    if (command == NULL) {
        return;
    }
    if ((command->flags & COMMAND_NO_SCRIPT) != 0) {
        reply_error(call->reply, "ERR This Redis command is not allowed from script");
    } else if (call->server->read_only && (command->flags & COMMAND_WRITES) != 0) {
        reply_error(call->reply, "READONLY You can't write against a read only replica.");
    } else {
        command->run(call);
    }
}

/* Runs the command and pushes its reply. Returns whether the reply is an error. */
static bool call_redis(lua_State *lua)
{
    static struct reply reply;
    struct bytes argv[COMMAND_ARGS_MAX];
    char numbers[COMMAND_ARGS_MAX][KEY_DIGITS_MAX + 16];
    struct call call;
    int argc = take_args(lua, argv, numbers);
    if (the.call == NULL) { /* a text with an `end` too many runs code while it is compiled */
        push_error(lua, "ERR redis.call/pcall can only be called inside a script invocation");
        return true;
    }
    if (argc == 0) {
        push_error(lua, "ERR Please specify at least one argument for this redis lib call");
        return true;
    }
    if (argc < 0) {
        push_error(lua, "ERR Lua redis lib command arguments must be strings or integers");
        return true;
    }
    if (argc > COMMAND_ARGS_MAX) {
        the.call->no_room = true;
        push_error(lua, "ERR too many arguments");
        return true;
    }
    call = *the.call;
    call.in_script = true;
    call.argc = argc;
    call.argv = argv;
    call.reply = &reply;
    reply_clear(&reply);
    run_command(&call);
    the.call->database = call.database;
    the.call->no_room = the.call->no_room || call.no_room || reply.full;
    push_item(lua, reply.bytes, 0);
    return reply_item(reply.bytes, 0)->type == REPLY_ERROR;
}

static int redis_call(lua_State *lua)
{
    return call_redis(lua) ? lua_error(lua) : 1;
}

static int redis_pcall(lua_State *lua)
{
    call_redis(lua);
    return 1;
}

static int redis_sha1hex(lua_State *lua)
{
    size_t size;
    unsigned char digest[DIGEST_BYTES];
    char digits[DIGEST_DIGITS + 1];
    if (lua_gettop(lua) != 1) {
        push_error(lua, "ERR wrong number of arguments");
        return lua_error(lua);
    }
    const char *text = lua_tolstring(lua, 1, &size);
    SHA1((const unsigned char *)(text != NULL ? text : ""), text != NULL ? size : 0, digest);
    write_digits(digest, digits);
    lua_pushstring(lua, digits);
    return 1;
}

static int redis_status_reply(lua_State *lua)
{
    size_t size;
    if (lua_gettop(lua) != 1 || lua_type(lua, 1) != LUA_TSTRING) {
        return push_error(lua, "ERR wrong number or type of arguments");
    }
    const char *text = lua_tolstring(lua, 1, &size);
    push_field(lua, "ok", (struct bytes){text, size});
    return 1;
}

/* A text without a space has no code, and gets ERR in front. */
static int redis_error_reply(lua_State *lua)
{
    size_t size;
    char error[512];
    if (lua_gettop(lua) != 1 || lua_type(lua, 1) != LUA_TSTRING) {
        return push_error(lua, "ERR wrong number or type of arguments");
    }
    const char *text = lua_tolstring(lua, 1, &size);
    text += *text == '-';
    snprintf(error, sizeof error, "%s%s", strchr(text, ' ') != NULL ? "" : "ERR ", text);
    return push_error(lua, error);
}

static int redis_log(lua_State *lua)
{
    (void)lua;
    return 0;
}

static int redis_replicate_commands(lua_State *lua)
{
    lua_pushboolean(lua, 1);
    return 1;
}

static int math_random(lua_State *lua)
{
    lua_Number number = (lua_Number)(nrand48(the.random) % INT32_MAX) / INT32_MAX;
    int args = lua_gettop(lua);
    int least = args == 2 ? luaL_checkint(lua, 1) : 1;
    int most = args > 0 ? luaL_checkint(lua, args == 2 ? 2 : 1) : 1;
    if (args > 2) {
        return luaL_error(lua, "wrong number of arguments");
    }
    if (args == 0) {
        lua_pushnumber(lua, number);
        return 1;
    }
    luaL_argcheck(lua, least <= most, args, "interval is empty");
    lua_pushnumber(lua, (lua_Number)(long)(number * (most - least + 1)) + least);
    return 1;
}

static int math_randomseed(lua_State *lua)
{
    int32_t seed = (int32_t)luaL_checkint(lua, 1);
    the.random[0] = 0x330e;
    the.random[1] = (unsigned short)((uint32_t)seed & 0xffff);
    the.random[2] = (unsigned short)((uint32_t)seed >> 16);
    return 0;
}

/* Compiles the text on top of the stack. Redis takes no compiled chunks: such a text gets a blank in front,
 * so that it is no chunk and a syntax error. Returns the number of results on the stack: 1 = the function,
 * 2 = nil and the error. */
static int compile_text(lua_State *lua, const char *name)
{
    size_t size;
    const char *text = lua_tolstring(lua, -1, &size);
    if (size > 0 && text[0] == LUA_SIGNATURE[0]) {
        lua_pushliteral(lua, " ");
        lua_insert(lua, -2);
        lua_concat(lua, 2);
        text = lua_tolstring(lua, -1, &size);
    }
    if (luaL_loadbuffer(lua, text, size, name) == 0) {
        return 1;
    }
    lua_pushnil(lua);
    lua_insert(lua, -2);
    return 2;
}

static int load_string(lua_State *lua)
{
    const char *text = luaL_checkstring(lua, 1), *name = luaL_optstring(lua, 2, text);
    lua_pushvalue(lua, 1);
    return compile_text(lua, name);
}

/* Pushes the next piece of a text: the result of the function at index 1. False = there is no next piece. */
static bool next_piece(lua_State *lua)
{
    lua_pushvalue(lua, 1);
    lua_call(lua, 0, 1);
    if (!lua_isnil(lua, -1) && !lua_isstring(lua, -1)) {
        luaL_error(lua, "reader function must return a string");
    }
    return lua_isstring(lua, -1) && lua_objlen(lua, -1) > 0;
}

/* load(). Unlike the load() of Lua, it does not catch errors of the function that gives the pieces. */
static int load_pieces(lua_State *lua)
{
    const char *name = luaL_optstring(lua, 2, "=(load)");
    luaL_checktype(lua, 1, LUA_TFUNCTION);
    lua_pushliteral(lua, "");
    while (next_piece(lua)) {
        lua_concat(lua, 2);
    }
    lua_pop(lua, 1);
    return compile_text(lua, name);
}

/* pcall(). If the error is a table with a text in the field `err`, pcall() returns this text. */
static int protected_call(lua_State *lua)
{
    int argc = lua_gettop(lua);
    luaL_checkany(lua, 1);
    lua_pushboolean(lua, 1);
    lua_insert(lua, 1);
    if (lua_pcall(lua, argc - 1, LUA_MULTRET, 0) != 0) {
        lua_remove(lua, 1);
        if (lua_istable(lua, -1)) {
            lua_getfield(lua, -1, "err");
            if (lua_isstring(lua, -1)) {
                lua_replace(lua, -2);
            }
        }
        lua_pushboolean(lua, 0);
        lua_insert(lua, 1);
    }
    return lua_gettop(lua);
}

/* Returns a global of Lua to a script, whose own table of globals is always empty. If Lua has none of this
 * name, raises an error. */
static int read_global(lua_State *lua)
{
    lua_pushvalue(lua, 2);
    lua_rawget(lua, LUA_GLOBALSINDEX);
    if (lua_isnil(lua, -1)) {
        return luaL_error(lua, "Script attempted to access nonexistent global variable '%s'",
                          lua_tostring(lua, 2) != NULL ? lua_tostring(lua, 2) : "");
    }
    return 1;
}

static int write_global(lua_State *lua)
{
    return luaL_error(lua, "Attempt to modify a readonly table");
}

/* Handles an error of a script: returns a table of its text and, if known, its place in the script. */
static int note_place(lua_State *lua)
{
    lua_Debug place;
    if (lua_type(lua, 1) != LUA_TTABLE) {
        const char *text = lua_tostring(lua, 1);
        lua_pushfstring(lua, "ERR %s", text != NULL ? text : "(nil)");
        size_t size;
        const char *whole = lua_tolstring(lua, -1, &size);
        push_field(lua, "err", (struct bytes){whole, size});
        lua_replace(lua, 1);
    }
    lua_settop(lua, 1);
    bool found = lua_getstack(lua, 1, &place) != 0 && lua_getinfo(lua, "Sl", &place) != 0;
    if (found && strcmp(place.what, "C") == 0) {
        found = lua_getstack(lua, 2, &place) != 0 && lua_getinfo(lua, "Sl", &place) != 0;
    }
    if (found) {
        lua_pushstring(lua, "source");
        lua_pushstring(lua, place.source);
        lua_rawset(lua, 1);
        lua_pushstring(lua, "line");
        lua_pushnumber(lua, place.currentline);
        lua_rawset(lua, 1);
    }
    return 1;
}

static void open_libraries(lua_State *lua)
{
    static const struct {
        const char *name;
        lua_CFunction open;
    } libraries[] = {{"", luaopen_base},
                     {LUA_TABLIBNAME, luaopen_table},
                     {LUA_STRLIBNAME, luaopen_string},
                     {LUA_MATHLIBNAME, luaopen_math}};
    static const char *const missing[] = {"loadfile", "dofile", "print", "newproxy", NULL};
    static const luaL_Reg redis[] = {{"call", redis_call},
                                     {"pcall", redis_pcall},
                                     {"sha1hex", redis_sha1hex},
                                     {"status_reply", redis_status_reply},
                                     {"error_reply", redis_error_reply},
                                     {"log", redis_log},
                                     {"replicate_commands", redis_replicate_commands},
                                     {NULL, NULL}};
    static const luaL_Reg random[] = {{"random", math_random}, {"randomseed", math_randomseed}, {NULL, NULL}};
    static const char *const levels[] = {"LOG_DEBUG", "LOG_VERBOSE", "LOG_NOTICE", "LOG_WARNING"};
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
        lua_pushcfunction(lua, libraries[i].open);
        lua_pushstring(lua, libraries[i].name);
        lua_call(lua, 1, 0);
    }
    luaL_register(lua, LUA_MATHLIBNAME, random);
    lua_pushcfunction(lua, protected_call);
    lua_setglobal(lua, "pcall");
    lua_pushcfunction(lua, load_string);
    lua_setglobal(lua, "loadstring");
    lua_pushcfunction(lua, load_pieces);
    lua_setglobal(lua, "load");
    luaL_register(lua, "redis", redis);
    for (int i = 0; i < 4; i++) {
        lua_pushnumber(lua, i);
        lua_setfield(lua, -2, levels[i]);
    }
    lua_settop(lua, 0);
    for (int i = 0; missing[i] != NULL; i++) {
        lua_pushnil(lua);
        lua_setglobal(lua, missing[i]);
    }
}

/* Positions on Lua's stack, in all scripts, of note_place() and of the script's table of globals. */
enum { PLACE_AT = 1, GLOBALS_AT = 2 };

static void push_surroundings(lua_State *lua)
{
    LS_ASSERT(lua_gettop(lua) == PLACE_AT - 1);
    lua_pushcfunction(lua, note_place);
    lua_newtable(lua);
    lua_newtable(lua);
    lua_pushcfunction(lua, read_global);
    lua_setfield(lua, -2, "__index");
    lua_pushcfunction(lua, write_global);
    lua_setfield(lua, -2, "__newindex");
    lua_setmetatable(lua, GLOBALS_AT);
    LS_ASSERT(lua_gettop(lua) == GLOBALS_AT);
}

static void open_interpreter(void)
{
    void *memory = mmap((void *)(uintptr_t)MEMORY_ADDRESS, MEMORY_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE, -1, 0);
    LS_ASSERT(memory == (void *)(uintptr_t)MEMORY_ADDRESS);
    the.memory = memory;
    the.lua = lua_newstate(allocate, NULL);
    LS_ASSERT(the.lua != NULL);
    lua_gc(the.lua, LUA_GCSTOP, 0);
    open_libraries(the.lua);
    push_surroundings(the.lua);
    the.image_used = the.used;
    the.image = malloc(the.used);
    LS_ASSERT(the.image != NULL);
    memcpy(the.image, the.memory, the.used);
}

static lua_State *fresh_interpreter(void)
{
    if (the.lua == NULL) {
        open_interpreter();
    }
    LS_ASSERT(the.image_used > 0 && the.image_used <= MEMORY_BYTES);
    memcpy(the.memory, the.image, the.image_used);
    the.used = the.image_used;
    the.call = NULL; /* a world may have ended inside a call */
    the.random[0] = 0x330e;
    the.random[1] = the.random[2] = 0;
    lua_sethook(the.lua, stop_long, LUA_MASKCOUNT, STEPS_MAX);
    return the.lua;
}

static void set_args(lua_State *lua, const char *name, const struct bytes *argv, int count)
{
    LS_ASSERT(count >= 0 && count <= COMMAND_ARGS_MAX);
    lua_newtable(lua);
    for (int i = 0; i < count; i++) {
        lua_pushlstring(lua, argv[i].at, argv[i].size);
        lua_rawseti(lua, -2, i + 1);
    }
    lua_setglobal(lua, name);
}

/* Pushes the script's function. If the text is no function's body, writes the error and returns false. */
static bool compile(lua_State *lua, struct bytes text, const char *digits, struct reply *reply)
{
    static char whole[SCRIPT_BYTES_MAX + 128];
    LS_ASSERT(text.at != NULL && text.size <= SCRIPT_BYTES_MAX);
    int size = snprintf(whole, sizeof whole, "function f_%s() ", digits);
    memcpy(whole + size, text.at, text.size);
    memcpy(whole + (size_t)size + text.size, "\nend", 4);
    if (luaL_loadbuffer(lua, whole, (size_t)size + text.size + 4, "@user_script") != 0) {
        reply_error(reply, "ERR Error compiling script (new function): %s", lua_tostring(lua, -1));
        return false;
    }
    if (lua_pcall(lua, 0, 0, 0) != 0) {
        reply_error(reply, "ERR Error running script (new function): %s", lua_tostring(lua, -1));
        return false;
    }
    char name[DIGEST_DIGITS + 3];
    snprintf(name, sizeof name, "f_%s", digits);
    lua_getglobal(lua, name);
    lua_pushvalue(lua, GLOBALS_AT);
    lua_setfenv(lua, -2);
    return true;
}

static const char *field_of(lua_State *lua, const char *field)
{
    lua_pushstring(lua, field);
    lua_rawget(lua, -2);
    const char *text = lua_tostring(lua, -1);
    lua_pop(lua, 1); /* the table still has it */
    return text;
}

static void reply_failure(lua_State *lua, const char *digits, struct reply *reply)
{
    if (lua_type(lua, -1) != LUA_TTABLE) { /* out of memory */
        reply_error(reply, "ERR %s script: %s.", lua_tostring(lua, -1), digits);
        return;
    }
    const char *source = field_of(lua, "source");
    const char *line = field_of(lua, "line");
    const char *text = field_of(lua, "err");
    text = text != NULL ? text : "ERR unknown error";
    if (source != NULL && line != NULL) {
        reply_error(reply, "%s script: %s, on %s:%s.", text, digits, source, line);
    } else {
        reply_error(reply, "%s script: %s.", text, digits);
    }
}

static bool read_key_count(struct call *call, int64_t *count)
{
    if (!call_integer(call, call->argv[2], count)) {
        return false;
    }
    if (*count > call->argc - 3) {
        reply_error(call->reply, "ERR Number of keys can't be greater than number of args");
        return false;
    }
    if (*count < 0) {
        reply_error(call->reply, "ERR Number of keys can't be negative");
        return false;
    }
    return true;
}

static void cache(struct call *call, const unsigned char digest[DIGEST_BYTES])
{
    call->no_room = !scripts_add(&call->server->pack, digest) || call->no_room;
}

static void run(struct call *call, const unsigned char digest[DIGEST_BYTES], int keys)
{
    lua_State *lua = fresh_interpreter();
    char digits[DIGEST_DIGITS + 1];
    write_digits(digest, digits);
    if (!compile(lua, script_text(digest), digits, call->reply)) {
        return;
    }
    cache(call, digest);
    set_args(lua, "KEYS", call->argv + 3, keys);
    set_args(lua, "ARGV", call->argv + 3 + keys, call->argc - 3 - keys);
    int database = call->database;
    the.call = call;
    if (lua_pcall(lua, 0, 1, PLACE_AT) == 0) {
        reply_from(lua, call->reply, 0);
    } else {
        reply_failure(lua, digits, call->reply);
    }
    the.call = NULL;
    call->database = database;
}

static void script_eval(struct call *call)
{
    unsigned char digest[DIGEST_BYTES];
    int64_t keys;
    if (!read_key_count(call, &keys)) {
        return;
    }
    if (!script_learn(call->argv[1], digest)) {
        call->no_room = true;
        return;
    }
    run(call, digest, (int)keys);
}

static void script_evalsha(struct call *call)
{
    unsigned char digest[DIGEST_BYTES];
    int64_t keys;
    bool is_digest = read_digits(call->argv[1], digest);
    if (is_digest && !read_key_count(call, &keys)) {
        return;
    }
    if (!is_digest || !scripts_have(&call->server->pack, digest) || script_text(digest).at == NULL) {
        reply_error(call->reply, "NOSCRIPT No matching script. Please use EVAL.");
        return;
    }
    run(call, digest, (int)keys);
}

static void script_load(struct call *call)
{
    unsigned char digest[DIGEST_BYTES];
    char digits[DIGEST_DIGITS + 1];
    if (!script_learn(call->argv[2], digest)) {
        call->no_room = true;
        return;
    }
    write_digits(digest, digits);
    if (compile(fresh_interpreter(), call->argv[2], digits, call->reply)) {
        cache(call, digest);
        reply_bytes(call->reply, REPLY_BULK, (struct bytes){digits, DIGEST_DIGITS});
    }
}

static void script_exists(struct call *call)
{
    reply_array(call->reply, (uint32_t)call->argc - 2);
    for (int i = 2; i < call->argc; i++) {
        unsigned char digest[DIGEST_BYTES];
        bool have = read_digits(call->argv[i], digest) && scripts_have(&call->server->pack, digest);
        reply_integer(call->reply, have ? 1 : 0);
    }
}

static void script_flush(struct call *call)
{
    if (call->argc > 3 ||
        (call->argc == 3 && !call_is(call->argv[2], "async") && !call_is(call->argv[2], "sync"))) {
        reply_error(call->reply, "ERR SCRIPT FLUSH only support SYNC|ASYNC option");
        return;
    }
    scripts_clear(&call->server->pack);
    reply_status(call->reply, "OK");
}

const struct command commands_script[] = {
    {"eval", -3, COMMAND_NO_SCRIPT, script_eval},
    {"evalsha", -3, COMMAND_NO_SCRIPT, script_evalsha},
    {"script", -2, COMMAND_NO_SCRIPT, NULL},
    {"script|load", 3, COMMAND_NO_SCRIPT, script_load},
    {"script|exists", -3, COMMAND_NO_SCRIPT, script_exists},
    {"script|flush", -2, COMMAND_NO_SCRIPT, script_flush},
    {NULL, 0, 0, NULL},
};
