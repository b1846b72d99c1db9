/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "redis_client.h"

#include "redis_model.h"
#include "redis_words.h"
#include "target.h"

#include <string.h>

#define DEPTH_MAX 9 /* arrays in arrays: more than hiredis takes */

unsigned long client_replies[REDIS_REPLY_ERROR + 1], client_calls;

/* ---- what is called back ---- */

static void act(int client, redisAsyncContext *context, uint8_t what);

static void look_at_text(const redisReply *reply)
{
    if (reply->str == NULL || reply->str[reply->len] != 0) {
        model_wrong("a text does not end with a zero");
    }
    for (size_t i = 0; reply->type != REDIS_REPLY_STRING && i < reply->len; i++) {
        expect(reply->str[i] != '\r' && reply->str[i] != '\n', "a line has a line break");
    }
    model_note_bytes(reply->str, reply->len);
}

/* A reply of scripts may be seven arrays deep. */
static void look_at(const redisReply *reply, int depth)
{
    if (reply == NULL || depth > DEPTH_MAX) {
        model_wrong("a reply has a place without an element");
    }
    expect(reply->type >= REDIS_REPLY_STRING && reply->type <= REDIS_REPLY_ERROR, "a reply without a type");
    model_note((unsigned)reply->type);
    client_replies[reply->type]++;
    if (reply->type == REDIS_REPLY_ARRAY) {
        for (size_t i = 0; i < reply->elements; i++) {
            look_at(reply->element[i], depth + 1);
        }
    } else if (reply->type == REDIS_REPLY_INTEGER) {
        model_note((uint64_t)reply->integer);
    } else if (reply->type != REDIS_REPLY_NIL) {
        look_at_text(reply);
    }
}

/* Counts as coverage in which order replies come. */
static void reach(unsigned what)
{
    static unsigned last;
    if (target_counters != NULL) {
        target_counters[(last * 31 + what) & (TARGET_COUNTERS - 1)] |= 1;
    }
    last = what;
}

/* The type of a reply; of an error also its words. */
static unsigned kind_of(const redisReply *reply)
{
    unsigned kind = reply != NULL ? (unsigned)reply->type : 0;
    for (size_t i = 0; kind == REDIS_REPLY_ERROR && i < reply->len && i < 40; i++) {
        kind += (unsigned char)reply->str[i] * 8u;
    }
    return kind;
}

/* Checks the promises of hiredis for each callback. Returns the record of the context. */
static struct known *enter_callback(int client, const redisAsyncContext *context)
{
    struct known *known = &model->known[client][model_context_index(client, context)];
    if (fakeredis_trouble() == NULL) {
        expect(client == model_inside, "a callback of a client that does nothing");
        expect(!fakeredis_is_paused(client), "a callback of a paused client");
        expect(known->there && !known->ended, "a callback of a connection that has ended");
    }
    return known;
}

static bool ends(const redisAsyncContext *context)
{
    return (context->c.flags & (REDIS_DISCONNECTING | REDIS_FREEING)) != 0;
}

static void on_reply(redisAsyncContext *context, void *reply, void *privdata)
{
    struct request *request = privdata;
    struct known *known = enter_callback(request->client, context);
    model_note(request->number);
    if (reply != NULL) {
        look_at(reply, 0);
    }
    reach(kind_of(reply));
    if (fakeredis_trouble() == NULL) {
        expect(request->number != NUMBER_NONE, "a command is answered twice");
        expect(request->any_turn || request->number > known->answered,
               "commands are answered in another order");
        expect(reply != NULL || ends(context), "no reply, though the connection goes on");
    }
    known->answered = request->any_turn ? known->answered : request->number;
    known->pending--;
    request->number = NUMBER_NONE;
    act(request->client, context, request->what);
}

static void on_message(redisAsyncContext *context, void *reply, void *privdata)
{
    const struct request *request = privdata;
    enter_callback(request->client, context);
    model_note(0x4d);
    if (reply != NULL) {
        look_at(reply, 0);
        act(request->client, context, request->what);
    }
}

static void on_connect(const redisAsyncContext *context, int status)
{
    int client = model_client_of(context);
    struct known *known = enter_callback(client, context);
    expect(known->connected++ == 0, "a connection begins twice");
    model_note(0x100u + (unsigned)status);
    if ((model->log & 15) == 0) {
        act(client, (redisAsyncContext *)(uintptr_t)context, (uint8_t)(model->log >> 8));
    }
}

static void on_disconnect(const redisAsyncContext *context, int status)
{
    int client = model_client_of(context);
    struct known *known = enter_callback(client, context);
    model_note(0x200u + (unsigned)status);
    expect(known->pending == 0, "a connection has ended before its commands");
    act(client, (redisAsyncContext *)(uintptr_t)context, (uint8_t)(model->log >> 8));
    known->ended = 1;
}

/* ---- calls ---- */

static struct request *new_request(int client, const redisAsyncContext *context, uint8_t what)
{
    if (model->requests == REQUESTS_MAX) {
        return NULL;
    }
    struct request *request = &model->request[model->requests++];
    int i = model_context_index(client, context);
    *request = (struct request){.client = (uint8_t)client, .context = (uint8_t)i, .what = what};
    request->any_turn = (context->c.flags & REDIS_SUBSCRIBED) != 0;
    request->number = ++model->known[client][i].sent;
    model->known[client][i].pending++;
    client_calls++;
    return request;
}

/* A call was refused: nothing comes. */
static void take_back(struct request *request, int rc)
{
    model_note(0x300u + (unsigned)rc);
    if (rc != REDIS_OK) {
        model->known[request->client][request->context].pending--;
        request->number = NUMBER_NONE;
    }
}

static bool is(const struct words *words, const char *name)
{
    return call_is((struct bytes){words->at[0], words->size[0]}, name);
}

static void send_words(int client, redisAsyncContext *context, uint8_t what, struct words *words)
{
    bool listens = is(words, "subscribe") || is(words, "unsubscribe");
    struct request *request = new_request(client, context, what);
    if (request == NULL) {
        return;
    }
    int rc = redisAsyncCommandArgv(context, listens ? on_message : on_reply, request, words->count, words->at,
                                   words->size);
    take_back(request, listens ? REDIS_ERR : rc);
}

/* Bytes are taken as they are, or refused whole. */
static void send_bytes(int client, redisAsyncContext *context, uint8_t what)
{
    struct words words = {.count = 0};
    struct request *request = new_request(client, context, what);
    words_add_bytes(&words, words_take());
    if (request != NULL) {
        take_back(request,
                  redisAsyncFormattedCommand(context, on_reply, request, words.at[0], words.size[0]));
    }
}

static void send_format(int client, redisAsyncContext *context, uint8_t what)
{
    static const char *const formats[] = {
        "SET %s %b", "GET %s", "  EVALSHA %s 0  ", "SET %s%%x %b", "%s", "HSET %s%s v", "DEL %s", "PING",
        "",          " "};
    struct request *request = new_request(client, context, what);
    const char *format = formats[words_take() % (sizeof formats / sizeof formats[0])];
    const char *word = words_one();
    if (request != NULL) {
        take_back(request, redisAsyncCommand(context, on_reply, request, format, word, word, strlen(word)));
    }
}

static void send_again(int client, redisAsyncContext *context, int times)
{
    for (struct request *request; times > 0; times--) {
        request = new_request(client, context, 0);
        if (request != NULL) {
            take_back(request, redisAsyncCommand(context, on_reply, request, "INCR k"));
        }
    }
}

void client_connect_to(uint8_t how)
{
    redisAsyncContext *context = redisAsyncConnect("127.0.0.1", FAKEREDIS_PORT + how % (model_servers + 1));
    if (context != NULL) {
        if ((how & 64) == 0) {
            expect(redisAsyncSetConnectCallback(context, on_connect) == REDIS_OK, "no callback is taken");
        }
        if ((how & 128) == 0) {
            expect(redisAsyncSetDisconnectCallback(context, on_disconnect) == REDIS_OK, "none is taken");
        }
    }
}

/* The open connection with this number, modulo how many there are; NULL = there is none. */
redisAsyncContext *client_context(int client, uint8_t which)
{
    redisAsyncContext *open[FAKEREDIS_CONNECTIONS_MAX];
    int count = 0;
    for (int i = 0; i < FAKEREDIS_CONNECTIONS_MAX; i++) {
        open[count] = fakeredis_context(client, i);
        count += open[count] != NULL;
    }
    return count > 0 ? open[which % count] : NULL;
}

static void end_connection(redisAsyncContext *context, bool at_once)
{
    if (at_once) {
        redisAsyncFree(context);
    } else {
        redisAsyncDisconnect(context);
    }
}

static bool has_ended(int client, const redisAsyncContext *context)
{
    return model->known[client][model_context_index(client, context)].pending == 0 && ends(context) &&
           (context->c.flags & REDIS_IN_CALLBACK) == 0;
}

/* Does what the input says in a callback: mostly nothing. */
static void act(int client, redisAsyncContext *context, uint8_t what)
{
    static const char *const names[] = {"subscribe", "unsubscribe", "INCR", "EXEC"};
    struct words words = {.count = 0};
    redisAsyncContext *other = client_context(client, what >> 4);
    switch (what & 15) {
    case 8:
    case 9:
    case 10:
        words_add(&words, names[what >> 4 & 3], strlen(names[what >> 4 & 3]));
        words_add(&words, "c", 1);
        send_words(client, (what & 15) == 8 ? context : other, 0, &words);
        break;
    case 11:
        client_connect_to(what >> 4);
        break;
    case 12:
    case 13:
        if (!has_ended(client, context)) {
            end_connection(context, (what & 15) == 12);
        }
        break;
    case 14:
    case 15:
        if (other != context && !has_ended(client, other)) {
            end_connection(other, (what & 15) == 14);
        }
        break;
    default:
        break;
    }
}

/* A process ends all its connections; the last one ends its life. */
static void stop(int client)
{
    redisAsyncContext *context;
    model->stopping = 1;
    while ((context = client_context(client, 0)) != NULL && fakeredis_trouble() == NULL) {
        redisAsyncFree(context);
    }
    model->stopping = 0;
}

static void end(int client, redisAsyncContext *context, uint8_t how)
{
    if (how % 8 == 0 && fakeredis_lives(client) < LIVES_MAX) {
        stop(client);
    } else {
        end_connection(context, (how & 1) != 0);
    }
}

void client_call(int client, enum redis_operation kind)
{
    struct words words = {.count = 0};
    redisAsyncContext *context = client_context(client, words_take());
    uint8_t what = words_take();
    if (context == NULL) {
        client_connect_to(what);
    } else if (kind == REDIS_END) {
        end(client, context, what);
    } else if (kind == REDIS_FORMAT) {
        send_format(client, context, what);
    } else if (kind == REDIS_BYTES) {
        send_bytes(client, context, what);
    } else if (kind == REDIS_AGAIN) {
        send_again(client, context, what % 32);
    } else {
        if (kind == REDIS_SCRIPT) {
            words_script(&words);
        } else if (kind == REDIS_QUEUE) {
            words_of_connection(&words);
        } else {
            words_command(&words);
        }
        if (kind == REDIS_BIG) {
            words_add_big(&words, (size_t)words_take() * 128);
        }
        send_words(client, context, what, &words);
    }
}
