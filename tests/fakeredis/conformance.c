/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Compares the fake's commands with a real server's: conformance PORT SEQUENCES SEED.
 *
 * A sequence is 40 drawn commands on three connections, from an empty server on. Each reply of the fake,
 * as text of the protocol, is compared byte by byte with the real one. The fake gets its clock before the
 * server does: what is left of a lease may differ by the longest delay of a reply in the sequence. Short
 * leases have surely ended when the next command comes. */
#include "base/rng.h"
#include "fakeredis/command.h"
#include "fakeredis/script.h"

#include <ctype.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS 3
#define LISTENER 2 /* the connection that listens to channels, and can do little else then */
#define COMMANDS 40
#define ARGS_MAX 12
#define TEXT_BYTES 65536
#define SHORT_MS 4

static struct rng rng;
static struct arena arena;
static struct server server;
static redisContext *real[CONNECTIONS];
static long commands, errors, differences;
static int64_t asked_ms,
    longest_ms; /* when the fake ran the command; the longest delay of a real reply since then */

/* Messages to connections that the last command has sent. */
static struct {
    int connection;
    struct reply reply;
} sent[16];
static int sent_count;

/* ---- drawing commands ---- */

struct drawn {
    int argc;
    char text[ARGS_MAX][640];
    size_t size[ARGS_MAX];
    bool sleeps; /* it may have set a short lease */
};

static const char *pick(const char *const *words, int count)
{
    return words[rng_below(&rng, (uint32_t)count)];
}

#define PICK(words) pick(words, (int)(sizeof(words) / sizeof((words)[0])))

static const char *draw_key(void)
{
    static const char *const keys[] = {"lock", "a", "b", "h", "l", "count", "key with space"};
    return PICK(keys);
}

static const char *draw_value(void)
{
    static const char *const values[] = {"me",
                                         "you",
                                         "0",
                                         "1",
                                         "-1",
                                         "42",
                                         "007",
                                         "9223372036854775807",
                                         "-0",
                                         "",
                                         "3.5",
                                         " 7",
                                         "+7",
                                         "-9223372036854775808",
                                         "nil",
                                         "a b",
                                         "{x}",
                                         "9",
                                         "10",
                                         "\r\n",
                                         "a long value of some words"};
    return PICK(values);
}

static const char *draw_lease(struct drawn *drawn)
{
    static const char *const leases[] = {"100000", "200000", "50000000",           "3", "0", "-5",
                                         "x",      "1",      "9223372036854775807"};
    const char *lease = PICK(leases);
    drawn->sleeps = drawn->sleeps || strlen(lease) == 1;
    return lease;
}

/* A lease for a comparison with the present one. No other lease is as long: otherwise the milliseconds between
 * the two commands would decide, which the fake and the server count apart. */
static const char *draw_other_lease(void)
{
    static char digits[16];
    snprintf(digits, sizeof digits, "%u", 110000 + rng_below(&rng, 80000));
    static const char *const others[] = {digits, digits, digits, "-5", "x"};
    return PICK(others);
}

static const char *draw_field(void)
{
    static const char *const fields[] = {"f", "g", "id:1", ""};
    return PICK(fields);
}

static const char *draw_channel(void)
{
    static const char *const channels[] = {"free", "news"};
    return PICK(channels);
}

/* NOLINTBEGIN(bugprone-suspicious-missing-comma): one script stands on several lines */
static const char *const SCRIPTS[] = {
    "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) else return nil end",
    "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('pexpire',KEYS[1],100000) else return nil "
    "end",
    "if (redis.call('exists',KEYS[1])==0) then redis.call('hincrby',KEYS[1],ARGV[1],1); "
    "redis.call('pexpire',KEYS[1],200000); return nil; end; "
    "if (redis.call('hexists',KEYS[1],ARGV[1])==1) then redis.call('hincrby',KEYS[1],ARGV[1],1); return nil; "
    "end; "
    "return redis.call('type',KEYS[1]);",
    "local v = redis.call('set',KEYS[1],ARGV[1],'NX','PX',100000) if v then return "
    "redis.call('incr',KEYS[2]) end return v",
    "return {1,2,{3,'four',false},true,ARGV[1]}",
    "return {KEYS[1],nil,ARGV[1]}",
    "return redis.call('get',KEYS[1])",
    "return redis.pcall('incr',KEYS[1])",
    "redis.call('set',KEYS[1],ARGV[1]) return redis.call('incr',KEYS[1])",
    "return redis.error_reply('MY own error')",
    "return redis.error_reply('plain')",
    "return redis.status_reply('FINE')",
    "error('broken')",
    "error({err='X table'})",
    "return 3.99",
    "return -3.99",
    "return {err='E one',ok='two'}",
    "return undefined_name",
    "global = 1",
    "this is no lua",
    "return redis.call('nonsense')",
    "return redis.call('get')",
    "return redis.pcall('multi')",
    "return redis.call()",
    "return redis.call('set',KEYS[1],{})",
    "return redis.sha1hex(ARGV[1])",
    "return tostring(redis.call('get',KEYS[1])==false)",
    "return redis.call('hgetall',KEYS[1])",
    "return redis.call('lrange',KEYS[1],0,-1)",
    "return redis.call('publish','free',ARGV[1])",
    "redis.call('select',3) return redis.call('set',KEYS[1],ARGV[1])",
    "math.randomseed(7) return tostring(math.random())",
    "math.randomseed(7) return math.random(3,9)",
    "local t = {} for i=1,3 do t[i]=i*i end return t",
    "return redis.call('incrby',KEYS[1],1.5)",
    "return redis.call('set',KEYS[1],10)",
    "return #redis.call('exists',KEYS[1])",
    "local ok, e = pcall(redis.call,'incr',KEYS[1]) return type(e)",
    "redis.log(redis.LOG_NOTICE,'x') return redis.call('ping')",
    "return string.rep('ab',3)",
    "return redis.call('pttl',KEYS[1]) > 0",
};
/* NOLINTEND(bugprone-suspicious-missing-comma) */

static void put(struct drawn *drawn, const char *text)
{
    drawn->size[drawn->argc] = (size_t)snprintf(drawn->text[drawn->argc], sizeof drawn->text[0], "%s", text);
    drawn->argc++;
}

/* A template: words of one letter stand for something that is drawn, others for themselves. K key, V
 * value, L lease, M lease that is compared, F field, C channel, I small integer. */
static void put_template(struct drawn *drawn, const char *template)
{
    static const char *const integers[] = {"0", "1", "2", "-1", "5", "-3", "x"};
    char copy[128];
    snprintf(copy, sizeof copy, "%s", template);
    for (char *rest = NULL, *word = strtok_r(copy, " ", &rest); word != NULL;
         word = strtok_r(NULL, " ", &rest)) {
        const char *text = word;
        if (word[1] == 0 && isupper((unsigned char)word[0])) {
            text = word[0] == 'K'   ? draw_key()
                   : word[0] == 'V' ? draw_value()
                   : word[0] == 'L' ? draw_lease(drawn)
                   : word[0] == 'M' ? draw_other_lease()
                   : word[0] == 'F' ? draw_field()
                   : word[0] == 'C' ? draw_channel()
                                    : PICK(integers);
        }
        put(drawn, text);
    }
}

static void draw_script(struct drawn *drawn)
{
    static const char *const counts[] = {"0", "1", "2", "2", "2", "2", "2", "2", "3", "-1", "x", "9"};
    const char *script = PICK(SCRIPTS);
    unsigned kind = rng_below(&rng, 8);
    char digits[DIGEST_DIGITS + 1];
    unsigned char digest[DIGEST_BYTES];
    script_learn((struct bytes){script, strlen(script)}, digest);
    for (size_t i = 0; i < DIGEST_BYTES; i++) {
        snprintf(digits + 2 * i, 3, rng_below(&rng, 9) == 0 ? "%02X" : "%02x", digest[i]);
    }
    if (kind == 0) {
        put(drawn, "script");
        put(drawn, "load");
        put(drawn, script);
    } else if (kind == 1) {
        put_template(drawn, "script exists");
        put(drawn, digits);
        put(drawn, "00");
    } else {
        put(drawn, kind < 5 ? "eval" : "evalsha");
        put(drawn, kind < 5 ? script : digits);
        put(drawn, PICK(counts));
        put_template(drawn, "K K V V");
    }
}

static const char *const TEMPLATES[] = {
    "set K V",
    "set K V",
    "set K V nx px L",
    "set K V nx px L",
    "set K V px L",
    "set K V xx",
    "set K V ex L",
    "set K V get",
    "set K V nx get",
    "set K V keepttl",
    "set K V xx keepttl get",
    "set K V nx xx",
    "set K V px L ex L",
    "set K V px",
    "set K V keepttl px L",
    "set K V pxat L",
    "SET K V exat 99999999999",
    "get K",
    "get K",
    "GET K",
    "getset K V",
    "getdel K",
    "setnx K V",
    "setex K L V",
    "psetex K L V",
    "strlen K",
    "append K V",
    "del K",
    "del K K",
    "unlink K",
    "exists K",
    "exists K K K",
    "type K",
    "expire K L",
    "pexpire K L",
    "pexpire K L nx",
    "pexpire K L xx",
    "pexpire K M gt",
    "pexpire K M lt",
    "expire K L nx gt",
    "expire K L gt lt",
    "expire K L zz",
    "expireat K L",
    "pexpireat K L",
    "pexpireat K 99999999999999",
    "persist K",
    "ttl K",
    "pttl K",
    "pttl K",
    "expiretime K",
    "pexpiretime K",
    "incr K",
    "incr count",
    "decr K",
    "incrby K V",
    "decrby K V",
    "hset h F V",
    "hset K F V F V",
    "hset K F V F",
    "hmset K F V",
    "hsetnx K F V",
    "hdel h F",
    "hdel K F F",
    "hincrby h F V",
    "hincrby K F I",
    "hget h F",
    "hget K F",
    "hmget K F F",
    "hexists K F",
    "hlen K",
    "hgetall h",
    "hgetall K",
    "hkeys K",
    "hvals K",
    "lpush l V",
    "lpush K V V",
    "rpush l V",
    "rpush K V V",
    "lpop l",
    "lpop K",
    "rpop K",
    "lpop K I",
    "rpop l I",
    "llen K",
    "lindex K I",
    "lrange K I I",
    "lrange l 0 -1",
    "lrem l I V",
    "lrem K I V",
    "ping",
    "ping V",
    "ping V V",
    "echo V",
    "select 0",
    "select 1",
    "select I",
    "select 16",
    "select 99999999999",
    "client setname V",
    "client setname me",
    "client getname",
    "client nonsense",
    "client",
    "auth V",
    "auth default V",
    "auth V V",
    "auth a b c",
    "wait 0 10",
    "wait I 1",
    "multi",
    "multi",
    "exec",
    "exec",
    "discard",
    "watch K",
    "watch K K",
    "unwatch",
    "subscribe C",
    "subscribe C C",
    "unsubscribe C",
    "unsubscribe",
    "unsubscribe",
    "publish C V",
    "publish C V",
    "nonsense",
    "nonsense V K V",
    "get",
    "get K K",
    "set K",
    "script flush",
    "script nonsense",
    "script flush V",
    "hset",
    "flushdb",
    "flushdb V",
    "flushdb async",
    "script",
};

static void draw(struct drawn *drawn)
{
    *drawn = (struct drawn){.argc = 0};
    if (rng_below(&rng, 5) == 0) {
        draw_script(drawn);
    } else {
        put_template(drawn, PICK(TEMPLATES));
    }
}

/* ---- running and comparing ---- */

static int64_t clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int note_message(struct server *of, struct bytes channel, struct bytes message)
{
    int count = 0;
    for (struct rec *rec = pack_first(&of->pack, SERVER_CHANNELS); rec != NULL;
         rec = pack_next(&of->pack, rec)) {
        struct peer_part *part = (struct peer_part *)(void *)rec;
        struct bytes name = {(const char *)(part + 1), rec->word};
        if (bytes_equal(name, channel)) {
            struct reply *reply = &sent[sent_count].reply;
            sent[sent_count++].connection = part->connection;
            reply_clear(reply);
            reply_array(reply, 3);
            reply_bytes(reply, REPLY_BULK, (struct bytes){"message", 7});
            reply_bytes(reply, REPLY_BULK, channel);
            reply_bytes(reply, REPLY_BULK, message);
            count++;
        }
    }
    return count;
}

/* A real reply as items. */
static void items_of(const redisReply *from, struct reply *to)
{
    switch (from->type) {
    case REDIS_REPLY_NIL:
        reply_nil(to);
        break;
    case REDIS_REPLY_STATUS:
        reply_bytes(to, REPLY_STATUS, (struct bytes){from->str, from->len});
        break;
    case REDIS_REPLY_ERROR:
        reply_bytes(to, REPLY_ERROR, (struct bytes){from->str, from->len});
        break;
    case REDIS_REPLY_INTEGER:
        reply_integer(to, from->integer);
        break;
    case REDIS_REPLY_STRING:
        reply_bytes(to, REPLY_BULK, (struct bytes){from->str, from->len});
        break;
    default:
        reply_array(to, (uint32_t)from->elements);
        for (size_t i = 0; i < from->elements; i++) {
            items_of(from->element[i], to);
        }
        break;
    }
}

static bool is_about_time(const struct drawn *drawn)
{
    return strcasestr(drawn->text[0], "ttl") != NULL || strcasestr(drawn->text[0], "expiretime") != NULL;
}

/* Commands of a transaction that wait for its exec, of each connection. */
static struct {
    int count;
    bool about_time[COMMANDS];
} waiting[CONNECTIONS];

static void note_waiting(const struct drawn *drawn, int connection, const struct reply *reply)
{
    const struct reply_item *item = reply_item(reply->bytes, 0);
    if (reply->used == 0 || item->type != REPLY_STATUS) {
        return;
    }
    if (bytes_equal(reply_text(item), (struct bytes){"QUEUED", 6})) {
        waiting[connection].about_time[waiting[connection].count++] = is_about_time(drawn);
    } else if (strcmp(drawn->text[0], "multi") == 0) {
        waiting[connection].count = 0;
    }
}

/* Items of a reply, of the fake or of the server. */
struct items {
    const unsigned char *at;
    size_t size;
};

static size_t text_of(struct items items, char text[TEXT_BYTES])
{
    size_t size = reply_format(items.at, items.size, text, TEXT_BYTES);
    for (size_t i = 0; i + 5 <= size; i++) { /* the reader of hiredis shows a null array as nil */
        text[i] = memcmp(text + i, "*-1\r\n", 5) == 0 ? '$' : text[i];
    }
    return size;
}

static bool is_same(struct items ours, struct items theirs, bool time)
{
    static char a[TEXT_BYTES], b[TEXT_BYTES];
    size_t size = text_of(ours, a), other = text_of(theirs, b);
    if (size == other && memcmp(a, b, size) == 0) {
        return true;
    }
    return time && a[0] == ':' && b[0] == ':' && llabs(atoll(a + 1) - atoll(b + 1)) <= longest_ms + 1;
}

/* The reply of an exec has those of the commands that have waited. */
static bool is_same_exec(struct items ours, struct items theirs, int connection)
{
    const struct reply_item *a = reply_item(ours.at, 0), *b = reply_item(theirs.at, 0);
    int count = waiting[connection].count;
    if (a->type != REPLY_ARRAY || b->type != REPLY_ARRAY || a->size != b->size ||
        a->size != (uint32_t)count) {
        return is_same(ours, theirs, false);
    }
    size_t at = reply_next(ours.at, 0), other = reply_next(theirs.at, 0);
    bool same = true;
    for (int i = 0; i < count && same; i++) {
        size_t end = reply_end(ours.at, at), other_end = reply_end(theirs.at, other);
        same =
            is_same((struct items){ours.at + at, end - at},
                    (struct items){theirs.at + other, other_end - other}, waiting[connection].about_time[i]);
        at = end;
        other = other_end;
    }
    return same;
}

static void say(const struct drawn *drawn, struct items ours, struct items theirs)
{
    static char text[TEXT_BYTES];
    printf("command:");
    for (int i = 0; i < drawn->argc; i++) {
        printf(" '%s'", drawn->text[i]);
    }
    printf("\nfake: %.*s", (int)text_of(ours, text), text);
    printf("\nreal: %.*s\n", (int)text_of(theirs, text), text);
}

/* Reads one reply of the real server, and compares it with the fake's. */
static void compare(const struct drawn *drawn, int connection, struct items ours)
{
    static struct reply read;
    redisReply *reply = NULL;
    if (redisGetReply(real[connection], (void **)&reply) != REDIS_OK) {
        fprintf(stderr, "conformance: the server: %s\n", real[connection]->errstr);
        exit(2);
    }
    int64_t delay_ms = clock_ms() - asked_ms;
    longest_ms = delay_ms > longest_ms ? delay_ms : longest_ms;
    reply_clear(&read);
    items_of(reply, &read);
    struct items theirs = {read.bytes, read.used};
    bool exec = drawn->argc == 1 && strcmp(drawn->text[0], "exec") == 0;
    errors += reply->type == REDIS_REPLY_ERROR;
    if (exec ? !is_same_exec(ours, theirs, connection) : !is_same(ours, theirs, is_about_time(drawn))) {
        differences++;
        say(drawn, ours, theirs);
    }
    freeReplyObject(reply);
}

static void send_real(const struct drawn *drawn, int connection)
{
    const char *argv[ARGS_MAX];
    for (int i = 0; i < drawn->argc; i++) {
        argv[i] = drawn->text[i];
    }
    redisAppendCommandArgv(real[connection], drawn->argc, argv, drawn->size);
}

/* A server chooses the order in which it leaves several channels. */
static bool leaves_several(const struct drawn *drawn, int connection)
{
    int count = 0;
    struct rec *rec = pack_first(&server.pack, SERVER_CHANNELS);
    for (; rec != NULL; rec = pack_next(&server.pack, rec)) {
        count += ((struct peer_part *)(void *)rec)->connection == connection;
    }
    return drawn->argc == 1 && count > 1 && strcmp(drawn->text[0], "unsubscribe") == 0;
}

static void run_drawn(const struct drawn *drawn, int connection)
{
    static struct reply reply;
    struct bytes argv[ARGS_MAX];
    for (int i = 0; i < drawn->argc; i++) {
        argv[i] = (struct bytes){drawn->text[i], drawn->size[i]};
    }
    sent_count = 0;
    asked_ms = clock_ms();
    if (!command_run(&server, 0, connection, asked_ms, drawn->argc, argv, &reply)) {
        printf("no room\n");
        differences++;
    }
    note_waiting(drawn, connection, &reply);
    send_real(drawn, connection);
    for (size_t at = 0; at < reply.used;) {
        size_t end = reply_end(reply.bytes, at);
        compare(drawn, connection, (struct items){reply.bytes + at, end - at});
        at = end;
    }
    for (int i = 0; i < sent_count; i++) {
        compare(drawn, sent[i].connection, (struct items){sent[i].reply.bytes, sent[i].reply.used});
    }
    commands++;
    if (drawn->sleeps) {
        usleep((SHORT_MS + 5) * 1000);
    }
}

static void reset(void)
{
    longest_ms = 0;
    for (int c = 0; c < CONNECTIONS; c++) {
        command_hang_up(&server, 0, c);
        freeReplyObject(redisCommand(real[c], "RESET"));
    }
    static struct reply reply;
    struct bytes flush = {"flushall", 8};
    command_run(&server, 0, 0, clock_ms(), 1, &flush, &reply);
    scripts_clear(&server.pack);
    freeReplyObject(redisCommand(real[0], "FLUSHALL"));
    freeReplyObject(redisCommand(real[0], "SCRIPT FLUSH"));
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: conformance PORT SEQUENCES SEED\n");
        return 2;
    }
    int sequences = atoi(argv[2]);
    rng_seed(&rng, strtoull(argv[3], NULL, 10));
    if (arena_open(&arena, 1 << 20) != 0) {
        return 2;
    }
    keys_open(&server.pack, &arena, 65528);
    server.timed = true;
    server.publish = note_message;
    for (int c = 0; c < CONNECTIONS; c++) {
        real[c] = redisConnect("127.0.0.1", atoi(argv[1]));
        if (real[c] == NULL || real[c]->err != 0) {
            fprintf(stderr, "conformance: no server at port %s\n", argv[1]);
            return 2;
        }
    }
    for (int s = 0; s < sequences && differences < 20; s++) {
        reset();
        for (int i = 0; i < COMMANDS && differences < 20; i++) {
            struct drawn drawn;
            draw(&drawn);
            bool listens = strcmp(drawn.text[0], "subscribe") == 0;
            int connection = listens || rng_below(&rng, 8) == 0 ? LISTENER : (int)rng_below(&rng, LISTENER);
            if (!leaves_several(&drawn, connection)) {
                run_drawn(&drawn, connection);
            }
        }
    }
    printf("%d sequences, %ld commands, %ld of them answered by errors, %ld replies differ\n", sequences,
           commands, errors, differences);
    return differences > 0;
}
