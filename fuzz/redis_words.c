/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "redis_words.h"

#include "fakeredis/keys.h"
#include "redis_calls.h"

#include <string.h>

#define ARGS_MAX 12       /* of a command that is drawn */
#define WORDS_BYTES 40000 /* of all arguments of a command */

/* ---- reading the input ---- */

struct words_input words_input;

uint8_t words_take(void)
{
    return words_input.at < words_input.end ? *words_input.at++ : 0;
}

static char words_bytes[WORDS_BYTES];
static size_t words_used;

void words_clear(void)
{
    words_used = 0;
}

/* Room for the bytes of an argument; NULL = there is none. */
static char *take_room(size_t size)
{
    char *room = words_bytes + words_used;
    if (size > sizeof words_bytes - words_used) {
        return NULL;
    }
    words_used += size;
    return room;
}

/* ---- commands ---- */

static const char *const NAMES[] = {
    "SET",    "GET",     "DEL",      "EVALSHA",     "SUBSCRIBE", "UNSUBSCRIBE", "PUBLISH",   "PING",
    "INCR",   "HSET",    "HGET",     "HINCRBY",     "HGETALL",   "HDEL",        "LPUSH",     "RPUSH",
    "LPOP",   "RPOP",    "LRANGE",   "LREM",        "LINDEX",    "EXISTS",      "PEXPIRE",   "PTTL",
    "TTL",    "EXPIRE",  "TYPE",     "PERSIST",     "SETNX",     "SETEX",       "PSETEX",    "GETSET",
    "GETDEL", "STRLEN",  "APPEND",   "DECRBY",      "INCRBY",    "DECR",        "PEXPIREAT", "EXPIREAT",
    "DBSIZE", "FLUSHDB", "FLUSHALL", "PEXPIRETIME", "HMSET",     "HSETNX",      "HMGET",     "HEXISTS",
    "HLEN",   "HKEYS",   "HVALS",    "LLEN",        "SCRIPT",    "ECHO",        "TIME",      "UNLINK",
    "EVAL",   "nothing", "set",      "WAIT"};
#define NAME_COUNT (sizeof NAMES / sizeof NAMES[0])

/* Of the connection itself. */
static const char *const PEER_WORDS[][3] = {{"MULTI"},
                                            {"EXEC"},
                                            {"DISCARD"},
                                            {"UNWATCH"},
                                            {"WATCH", "k"},
                                            {"AUTH", "pass"},
                                            {"AUTH", "no"},
                                            {"SELECT", "1"},
                                            {"SELECT", "99"},
                                            {"CLIENT", "SETNAME", "n"},
                                            {"SELECT", "0"},
                                            {"WATCH", "l"},
                                            {"SUBSCRIBE", "c"},
                                            {"UNSUBSCRIBE"},
                                            {"CLIENT", "GETNAME"},
                                            {"SCRIPT"},
                                            {"CLIENT"},
                                            {"SCRIPT", "FLUSH"},
                                            {"SCRIPT", "LOAD"},
                                            {"UNSUBSCRIBE", "c"},
                                            {"PUBLISH", "c"},
                                            {"CLIENT", "ID"},
                                            {"AUTH"},
                                            {"MONITOR"}};
#define PEER_COUNT (sizeof PEER_WORDS / sizeof PEER_WORDS[0])

static const char *const WORDS[] = {"k",
                                    "l",
                                    "h",
                                    "c",
                                    "d",
                                    "v",
                                    "",
                                    "1",
                                    "0",
                                    "-1",
                                    "100",
                                    "NX",
                                    "PX",
                                    "EX",
                                    "XX",
                                    "GET",
                                    "KEEPTTL",
                                    "9223372036854775807",
                                    "f",
                                    "g",
                                    "1.5",
                                    "LOAD",
                                    "10",
                                    "-9223372036854775808",
                                    "EXISTS",
                                    "9223372036854775808",
                                    "FLUSH",
                                    "2",
                                    "ASYNC",
                                    "PXAT",
                                    "EXAT",
                                    "a b\r\n",
                                    "99999999999999999999",
                                    "SYNC",
                                    "%s",
                                    "secret"};
#define WORD_COUNT (sizeof WORDS / sizeof WORDS[0])

void words_add(struct words *words, const char *at, size_t size)
{
    words->at[words->count] = at;
    words->size[words->count++] = size;
}

void words_add_bytes(struct words *words, size_t size)
{
    char *room = take_room(size);
    for (size_t i = 0; room != NULL && i < size; i++) {
        room[i] = (char)words_take();
    }
    words_add(words, room != NULL ? room : "", room != NULL ? size : 0);
}

void words_add_big(struct words *words, size_t size)
{
    char *room = take_room(size);
    if (room != NULL) {
        memset(room, 'x', size);
    }
    words_add(words, room != NULL ? room : "", room != NULL ? size : 0);
}

const char *words_one(void)
{
    return WORDS[words_take() % WORD_COUNT];
}

static void add_drawn(struct words *words)
{
    uint8_t which = words_take();
    if (which < WORD_COUNT) {
        words_add(words, WORDS[which], strlen(WORDS[which]));
    } else if (which < 224) {
        const char *word = WORDS[which % 8];
        words_add(words, word, strlen(word));
    } else {
        words_add_bytes(words, which & 31u);
    }
}

void words_command(struct words *words)
{
    const char *name = NAMES[words_take() % NAME_COUNT];
    words_add(words, name, strlen(name));
    for (int count = words_take() % ARGS_MAX; count > 0; count--) {
        add_drawn(words);
    }
}

void words_of_connection(struct words *words)
{
    const char *const *from = PEER_WORDS[words_take() % PEER_COUNT];
    for (int i = 0; i < 3 && from[i] != NULL; i++) {
        words_add(words, from[i], strlen(from[i]));
    }
}

/* ---- scripts ---- */

static const char *const LUA[] = {"return ",
                                  "redis.call('get',KEYS[1])",
                                  "redis.call('set',KEYS[1],ARGV[1])",
                                  "redis.call('del',KEYS[1])",
                                  "redis.pcall('incr',KEYS[1])",
                                  "redis.call(ARGV[1],KEYS[1],ARGV[2])",
                                  "redis.call('publish','c',ARGV[1])",
                                  "redis.call('hset',KEYS[1],'f',1)",
                                  "redis.call('pexpire',KEYS[1],ARGV[2])",
                                  "redis.call('rpush',KEYS[1],ARGV[1])",
                                  "redis.call('hgetall',KEYS[1])",
                                  "if ",
                                  " == ARGV[1] then ",
                                  " else ",
                                  " end ",
                                  "for i=1,9 do ",
                                  "while true do ",
                                  "pcall(function() ",
                                  " end) ",
                                  "error(",
                                  "redis.error_reply('x')",
                                  "redis.status_reply('OK')",
                                  "{1,2,{'x',false}}",
                                  "{err='E'}",
                                  "{ok='O'}",
                                  "string.rep('x',99)",
                                  "string.rep('x',99999)",
                                  "tostring(",
                                  "local t={} ",
                                  "t[#t+1]=",
                                  "setmetatable(t,{__index=t})",
                                  "loadstring(",
                                  "string.dump(",
                                  "coroutine",
                                  "math.random(9)",
                                  "table.concat(t)",
                                  "string.format('%s%d',",
                                  "string.gsub('aaa','a*',",
                                  "redis.sha1hex('x')",
                                  "redis.call('select',1)",
                                  "function() ",
                                  "local function f() return f() end ",
                                  "f()",
                                  "1e308*10",
                                  "0/0",
                                  "{{{{{{{{1}}}}}}}}",
                                  "unpack(t)",
                                  "next,{},nil",
                                  "redis.call('eval','x',0)",
                                  "redis.call('multi')",
                                  "getmetatable('').__index",
                                  "_G",
                                  "ARGV",
                                  "KEYS",
                                  "end ",
                                  "function g() ",
                                  "redis",
                                  "select('#',",
                                  "xpcall(",
                                  "rawset(_G,'x',1)",
                                  "getfenv(0)",
                                  "setfenv(1,{})",
                                  "collectgarbage()",
                                  "unpack({},1,9999)"};
#define LUA_COUNT (sizeof LUA / sizeof LUA[0])

static void add_script(struct words *words)
{
    size_t codes = words_take(), size = 0;
    codes |= (size_t)words_take() << 8;
    char *text = words_bytes + words_used;
    for (; codes > 0 && words_input.at < words_input.end && size < KEY_VALUE_MAX; codes--) {
        uint8_t code = words_take();
        const char letter[2] = {(char)code, 0};
        const char *piece = code < REDIS_CODE ? letter : LUA[(code - REDIS_CODE) % LUA_COUNT];
        size_t length = code < REDIS_CODE ? 1 : strlen(piece);
        char *room = take_room(length);
        for (size_t i = 0; room != NULL && i < length; i++) {
            room[i] = piece[i];
        }
        size += room != NULL ? length : 0;
    }
    words_add(words, text, size);
}

/* Of the arguments behind a script the first says how many are keys. */
void words_script(struct words *words)
{
    static const char *const counts[] = {"1", "0", "2", "1", "-1", "x", "1", "1"};
    words_add(words, "EVAL", 4);
    add_script(words);
    uint8_t how = words_take();
    words_add(words, counts[how & 7], strlen(counts[how & 7]));
    for (int count = how >> 3 & 7; count > 0; count--) {
        add_drawn(words);
    }
}
