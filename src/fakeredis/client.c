/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The functions of <hiredis/async.h>, and the callbacks that they promise. The order of callbacks is that
 * of hiredis 0.14. The callback of a command runs once, in the order of the commands; that of SUBSCRIBE
 * runs for each reply and message of its channels. At the end of a connection, the callbacks of commands
 * without a reply get NULL, then those of the channels. If the connection was up, the disconnect callback
 * runs last. */
#include "base/assert.h"
#include "base/stop_points.h"
#include "fakeredis/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define CONTEXT_ENDS (REDIS_DISCONNECTING | REDIS_FREEING)

static struct connection *at(int client, int connection)
{
    LS_ASSERT(connection >= 0 && connection < FAKEREDIS_CONNECTIONS_MAX);
    return &client_mark(client)->connection[connection];
}

/* Returns the connection of a context. -1 = no open connection of the client has it, which is a trouble. */
static int find_context(int client, const redisAsyncContext *context)
{
    const struct client *state = client_read(client);
    for (int i = 0; i < FAKEREDIS_CONNECTIONS_MAX; i++) {
        if (state->connection[i].state != CONNECTION_FREE && state->connection[i].context == context) {
            return i;
        }
    }
    fake_trouble("a function of hiredis got a context that is not open");
    return -1;
}

bool fakeredis_has_open(int client)
{
    const struct client *state = client_read(client);
    for (int i = 0; i < FAKEREDIS_CONNECTIONS_MAX; i++) {
        if (state->connection[i].state != CONNECTION_FREE) {
            return true;
        }
    }
    return false;
}

static struct channel_record *channel_of(struct rec *rec)
{
    return (struct channel_record *)(void *)rec;
}

static struct bytes channel_name(const struct channel_record *channel)
{
    return (struct bytes){(const char *)(channel + 1), channel->rec.word};
}

static struct channel_record *first_channel(int client, int connection)
{
    struct pack pack = client_pack(client);
    struct rec *rec = pack_first(&pack, CLIENT_CHANNELS);
    while (rec != NULL && channel_of(rec)->connection != connection) {
        rec = pack_next(&pack, rec);
    }
    return channel_of(rec);
}

static struct channel_record *find_channel(int client, int connection, struct bytes name)
{
    struct pack pack = client_pack(client);
    for (struct rec *rec = pack_first(&pack, CLIENT_CHANNELS); rec != NULL; rec = pack_next(&pack, rec)) {
        const struct channel_record *channel = channel_of(rec);
        if (channel->connection == connection && !channel->mute && bytes_equal(channel_name(channel), name)) {
            return channel_of(rec);
        }
    }
    return NULL;
}

static void remove_channel(int client, struct channel_record *channel)
{
    LS_ASSERT(channel->rec.list == CLIENT_CHANNELS);
    struct pack pack = client_pack(client);
    pack_remove(&pack, &channel->rec);
}

/* Adds a record behind the others of its connection; a mute one before the records of channels. NULL = no
 * room, which is a trouble. */
static struct channel_record *add_channel(int client, int connection, size_t name_size, bool mute)
{
    LS_ASSERT(connection >= 0 && connection < FAKEREDIS_CONNECTIONS_MAX);
    struct pack pack = client_pack(client);
    struct rec *rec = pack_first(&pack, CLIENT_CHANNELS);
    while (rec != NULL && (channel_of(rec)->connection < connection ||
                           (channel_of(rec)->connection == connection && (!mute || channel_of(rec)->mute)))) {
        rec = pack_next(&pack, rec);
    }
    rec = pack_insert(&pack, CLIENT_CHANNELS, rec, sizeof(struct channel_record) + name_size);
    if (rec == NULL) {
        fake_trouble("limit: the block of a client is full");
        return NULL;
    }
    rec->word = (uint32_t)name_size;
    channel_of(rec)->connection = (uint8_t)connection;
    channel_of(rec)->mute = mute;
    return channel_of(rec);
}

/* Keeps the callback of a command until the connection ends. */
static void set_mute(int client, int connection, code_ref fn, void *privdata)
{
    struct channel_record *mute = add_channel(client, connection, 0, true);
    if (mute != NULL) {
        mute->fn = fn;
        mute->privdata = privdata;
    }
}

static void set_channel(int client, int connection, struct bytes name, code_ref fn, void *privdata)
{
    struct channel_record *channel = find_channel(client, connection, name);
    if (channel == NULL) {
        channel = add_channel(client, connection, name.size, false);
        if (channel == NULL) {
            return;
        }
        memcpy(channel + 1, name.at, name.size);
    }
    LS_ASSERT(bytes_equal(channel_name(channel), name));
    channel->fn = fn;
    channel->privdata = privdata;
}

static void before_callback(code_ref fn)
{
    stop_points_call(code_unpack_fn(fn));
    if (the_options.before_callback != NULL) {
        the_options.before_callback();
    }
}

static void run_callback(redisAsyncContext *context, code_ref fn, redisReply *reply, void *privdata)
{
    if (fn != 0) {
        before_callback(fn);
        context->c.flags |= REDIS_IN_CALLBACK;
        ((redisCallbackFn *)code_unpack_fn(fn))(context, reply, privdata);
        context->c.flags &= ~REDIS_IN_CALLBACK;
    }
}

static void tell_link(enum fakeredis_event_kind kind, int client, int connection)
{
    struct fakeredis_event event = {.kind = kind, .client = client, .connection = connection};
    the_options.observe(&event);
}

/* Ends a connection for its client: runs the callbacks that are due, and frees the context. The disconnect
 * callback gets `status`. */
static void finish(int client, int connection, int status)
{
    LS_ASSERT(at(client, connection)->state != CONNECTION_FREE);
    redisAsyncContext *context = at(client, connection)->context;
    struct call_record *record;
    struct channel_record *channel;
    context->c.flags |= REDIS_DISCONNECTING;
    link_abandon(client, connection);
    if (at(client, connection)->connected) { /* before LOST: a missing reply tells the client of the end */
        tell_link(FAKEREDIS_DOWN, client, connection);
    }
    while ((record = link_first(client, connection)) != NULL) {
        struct call_record call = *record;
        bool is_lost =
            call.rec.tag == CALL_LOST || (call.rec.tag == CALL_ANSWERED && (call.flags & CALL_CHANNELS) == 0);
        if (is_lost) {
            the_options.observe(&(struct fakeredis_event){.kind = FAKEREDIS_LOST,
                                                          .server = at(client, connection)->server,
                                                          .client = client,
                                                          .connection = connection,
                                                          .args = link_args(record)});
        }
        link_remove(client, record);
        if (is_lost) {
            run_callback(context, call.fn, NULL, call.privdata);
        }
    }
    while ((channel = first_channel(client, connection)) != NULL) {
        struct channel_record copy = *channel;
        remove_channel(client, channel);
        run_callback(context, copy.fn, NULL, copy.privdata);
    }
    LS_ASSERT(link_first(client, connection) == NULL);
    struct connection *ended = at(client, connection);
    code_ref on_disconnect = ended->on_disconnect;
    if (ended->connected && on_disconnect != 0) {
        before_callback(on_disconnect);
        ((redisDisconnectCallback *)code_unpack_fn(on_disconnect))(context, status);
    }
    memset(at(client, connection), 0, sizeof *ended);
    the_options.free(client, context);
    if (!fakeredis_has_open(client) && the_options.stopping()) {
        client_mark(client)->lives++;
        client_mark(client)->apart = 0;
    }
}

#define TEXT(LITERAL) (LITERAL), sizeof(LITERAL) - 1

static void set_error(redisAsyncContext *context, int err, const char *text, size_t size)
{
    context->c.err = err;
    snprintf(context->c.errstr, sizeof context->c.errstr, "%.*s", (int)size, text);
    context->err = err;
    context->errstr = context->c.errstr;
}

void client_note_up(int client, int connection)
{
    LS_ASSERT(at(client, connection)->connected == 0);
    LS_ASSERT(at(client, connection)->state == CONNECTION_UP ||
              at(client, connection)->state == CONNECTION_BROKEN);
    at(client, connection)->connected = 1;
    tell_link(FAKEREDIS_UP, client, connection);
}

static void deliver_up(int client, int connection, bool up)
{
    struct connection *opened = at(client, connection);
    LS_ASSERT(opened->state != CONNECTION_FREE);
    LS_ASSERT(up || opened->state == CONNECTION_BROKEN);
    redisAsyncContext *context = opened->context;
    code_ref on_connect = opened->on_connect;
    if (up) {
        client_note_up(client, connection);
        context->c.flags |= REDIS_CONNECTED;
    } else {
        set_error(context, REDIS_ERR_IO, TEXT("Connection refused"));
    }
    if (on_connect != 0) {
        before_callback(on_connect);
        ((redisConnectCallback *)code_unpack_fn(on_connect))(context, up ? REDIS_OK : REDIS_ERR);
    }
    if (!up && at(client, connection)->context == context) {
        finish(client, connection, REDIS_ERR);
    }
}

static void deliver_to_channel(int client, int connection, const unsigned char *items, size_t size)
{
    redisAsyncContext *context = at(client, connection)->context;
    size_t what_at = sizeof(struct reply_item), name_at = reply_next(items, what_at);
    struct bytes what = reply_text(reply_item(items, what_at));
    struct bytes name = reply_text(reply_item(items, name_at));
    struct channel_record *channel = find_channel(client, connection, name);
    struct channel_record copy = {.fn = 0};
    if (channel != NULL) {
        copy = *channel;
    }
    if (what.size == 11 && memcmp(what.at, "unsubscribe", 11) == 0) {
        if (channel != NULL) {
            remove_channel(client, channel);
        }
        if (reply_number(reply_item(items, reply_next(items, name_at))) == 0) {
            context->c.flags &= ~REDIS_SUBSCRIBED;
        }
    }
    run_callback(context, copy.fn, replies_parse(items, size), copy.privdata);
}

static void deliver_reply(int client, int connection, const struct call_record *call,
                          const unsigned char *items, size_t size)
{
    redisAsyncContext *context = at(client, connection)->context;
    bool is_array = reply_item(items, 0)->type == REPLY_ARRAY;
    if (call->rec.tag == CALL_MESSAGE || ((call->flags & CALL_CHANNELS) != 0 && is_array)) {
        for (size_t from = 0; from < size;) {
            size_t end = reply_end(items, from);
            deliver_to_channel(client, connection, items + from, end - from);
            from = end;
        }
    } else if ((call->flags & CALL_INVALID) == 0 || !is_array) {
        run_callback(context, call->fn, replies_parse(items, size), call->privdata);
    } else if (call->fn != 0) {
        set_mute(client, connection, call->fn, call->privdata);
    }
}

/* An error for SUBSCRIBE or UNSUBSCRIBE has no callback, so hiredis 0.14 ends the connection. */
static bool ends_by_error(const struct call_record *call, const unsigned char *items)
{
    return call->rec.tag == CALL_ANSWERED && (call->flags & CALL_CHANNELS) != 0 &&
           reply_item(items, 0)->type == REPLY_ERROR;
}

static void end_by_error(int client, int connection, const unsigned char *items)
{
    struct bytes text = reply_text(reply_item(items, 0));
    set_error(at(client, connection)->context, REDIS_ERR_OTHER, text.at, text.size);
    finish(client, connection, REDIS_ERR);
}

/* If its client has asked for that, ends the connection: redisAsyncFree() after the callback,
 * redisAsyncDisconnect() after the last record. */
static void end_if_wanted(int client, int connection)
{
    const redisAsyncContext *context = at(client, connection)->context;
    if ((context->c.flags & REDIS_FREEING) != 0 ||
        ((context->c.flags & REDIS_DISCONNECTING) != 0 && link_first(client, connection) == NULL)) {
        finish(client, connection, REDIS_OK);
    }
}

unsigned fakeredis_deliver(int client, int connection)
{
    LS_ASSERT(link_first(client, connection) != NULL && link_first(client, connection)->rec.tag != CALL_SENT);
    static unsigned char items[REPLY_BYTES_MAX] __attribute__((aligned(8)));
    struct call_record *first = link_first(client, connection);
    struct call_record call = *first;
    unsigned news = 0;
    if (at(client, connection)->connected) {
        at(client, connection)->context->c.flags |= REDIS_CONNECTED;
    }
    switch ((enum call_state)call.rec.tag) {
    case CALL_UP:
    case CALL_REFUSED:
        link_remove(client, first);
        deliver_up(client, connection, call.rec.tag == CALL_UP);
        return FAKEREDIS_LINK;
    case CALL_LOST:
    case CALL_DOWN:
        set_error(at(client, connection)->context, REDIS_ERR_EOF, TEXT("Server closed the connection"));
        finish(client, connection, REDIS_ERR);
        return FAKEREDIS_LINK;
    case CALL_MESSAGE:
        news = FAKEREDIS_MESSAGE;
        break;
    default:
        LS_NEVER(call.rec.tag != CALL_ANSWERED);
        news = FAKEREDIS_ANSWER;
        break;
    }
    struct bytes reply = link_reply(first);
    LS_ASSERT(reply.size > 0 && reply.size <= sizeof items);
    memcpy(items, reply.at, reply.size);
    link_remove(client, first);
    if (ends_by_error(&call, items)) {
        end_by_error(client, connection, items);
        return FAKEREDIS_LINK;
    }
    deliver_reply(client, connection, &call, items, reply.size);
    replies_poison();
    end_if_wanted(client, connection);
    return news;
}

static bool no_memory(void)
{
    struct client *client = client_mark(the_entered);
    return client->failing_call > 0 && --client->failing_call == 0;
}

redisAsyncContext *redisAsyncConnect(const char *ip, int port)
{
    struct client *client = client_mark(the_entered);
    int free_place = 0;
    (void)ip;
    LS_ASSERT(the_entered >= 0);
    while (free_place < FAKEREDIS_CONNECTIONS_MAX &&
           client->connection[free_place].state != CONNECTION_FREE) {
        free_place++;
    }
    if (free_place == FAKEREDIS_CONNECTIONS_MAX) {
        fake_trouble("limit: more than %d connections of a process", FAKEREDIS_CONNECTIONS_MAX);
        return NULL;
    }
    redisAsyncContext *context = no_memory() ? NULL : the_options.alloc(the_entered, sizeof *context);
    if (context == NULL) {
        return NULL;
    }
    struct connection *opened = at(the_entered, free_place);
    int server = port - FAKEREDIS_PORT;
    opened->context = context;
    opened->state = CONNECTION_OPENING;
    opened->server = (uint8_t)server;
    opened->opens_ms = clock_arrival_ms(2);
    context->c.fd = -1;
    context->c.tcp.port = port;
    if (server < 0 || server >= the_options.servers) {
        opened->server = 0;
        opened->state = CONNECTION_BROKEN;
        link_note(the_entered, free_place, CALL_REFUSED, clock_arrival_ms(2));
    }
    return context;
}

redisAsyncContext *redisAsyncConnectBind(const char *ip, int port, const char *source_addr)
{
    (void)source_addr;
    return redisAsyncConnect(ip, port);
}

redisAsyncContext *redisAsyncConnectBindWithReuse(const char *ip, int port, const char *source_addr)
{
    (void)source_addr;
    return redisAsyncConnect(ip, port);
}

int redisAsyncSetConnectCallback(redisAsyncContext *ac, redisConnectCallback *fn)
{
    int connection = find_context(the_entered, ac);
    if (connection < 0 || at(the_entered, connection)->on_connect != 0) {
        return REDIS_ERR;
    }
    at(the_entered, connection)->on_connect = code_pack_fn((code_fn)fn);
    return REDIS_OK;
}

int redisAsyncSetDisconnectCallback(redisAsyncContext *ac, redisDisconnectCallback *fn)
{
    int connection = find_context(the_entered, ac);
    if (connection < 0 || at(the_entered, connection)->on_disconnect != 0) {
        return REDIS_ERR;
    }
    at(the_entered, connection)->on_disconnect = code_pack_fn((code_fn)fn);
    return REDIS_OK;
}

void redisAsyncDisconnect(redisAsyncContext *ac)
{
    int connection = find_context(the_entered, ac);
    if (connection < 0) {
        return;
    }
    ac->c.flags |= REDIS_DISCONNECTING;
    if ((ac->c.flags & REDIS_IN_CALLBACK) == 0 && !fakeredis_awaits(the_entered, connection)) {
        finish(the_entered, connection, REDIS_OK);
    }
}

void redisAsyncFree(redisAsyncContext *ac)
{
    int connection = find_context(the_entered, ac);
    if (connection < 0) {
        return;
    }
    ac->c.flags |= REDIS_FREEING;
    if ((ac->c.flags & REDIS_IN_CALLBACK) == 0) {
        finish(the_entered, connection, REDIS_OK);
    }
}

/* ---- commands ---- */

/* Reads a line of `type` and a number, and moves *at behind it. Returns false if there is none at *at. */
static bool read_number(struct bytes text, size_t *at, char type, size_t *number)
{
    size_t i = *at + 1, digits = 0;
    if (*at >= text.size || text.at[*at] != type) {
        return false;
    }
    for (*number = 0; i < text.size && text.at[i] >= '0' && text.at[i] <= '9' && digits < 9; i++, digits++) {
        *number = *number * 10 + (size_t)(text.at[i] - '0');
    }
    if (digits == 0 || text.size - i < 2 || text.at[i] != '\r' || text.at[i + 1] != '\n') {
        return false;
    }
    *at = i + 2;
    return true;
}

/* Reads a command: one array of bulks. Returns the number of arguments; -1 = another form, or too many. */
static int read_command(struct bytes text, struct bytes argv[COMMAND_ARGS_MAX])
{
    size_t at = 0, argc;
    if (!read_number(text, &at, '*', &argc) || argc < 1 || argc > COMMAND_ARGS_MAX) {
        return -1;
    }
    for (size_t i = 0; i < argc; i++) {
        if (!read_number(text, &at, '$', &argv[i].size) || text.size - at < argv[i].size + 2) {
            return -1;
        }
        argv[i].at = text.at + at;
        LS_ASSERT(at <= text.size - argv[i].size - 2);
        at += argv[i].size + 2;
    }
    return at == text.size ? (int)argc : -1;
}

static int send_command(redisAsyncContext *context, redisCallbackFn *fn, void *privdata, const char *text,
                        size_t size)
{
    static struct sequence args;
    struct bytes argv[COMMAND_ARGS_MAX];
    int connection = find_context(the_entered, context);
    int argc = connection >= 0 ? read_command((struct bytes){text, size}, argv) : -1;
    if (connection >= 0 && argc < 0) {
        fake_trouble("a command that is no array of 1 to %d bulks", COMMAND_ARGS_MAX);
    }
    if (argc < 0 || (context->c.flags & CONTEXT_ENDS) != 0 || no_memory()) {
        return REDIS_ERR;
    }
    bool listens = (context->c.flags & REDIS_SUBSCRIBED) != 0;
    unsigned flags = listens ? CALL_INVALID : 0;
    code_ref packed = code_pack_fn((code_fn)fn);
    if (call_is(argv[0], "psubscribe") || call_is(argv[0], "punsubscribe") || call_is(argv[0], "monitor")) {
        fake_trouble("%.*s: the fake of Redis does not have it", (int)argv[0].size, argv[0].at);
        return REDIS_ERR;
    }
    if (call_is(argv[0], "subscribe")) {
        context->c.flags |= REDIS_SUBSCRIBED;
        for (int i = 1; i < argc; i++) {
            set_channel(the_entered, connection, argv[i], packed, privdata);
        }
        flags = CALL_CHANNELS;
    } else if (call_is(argv[0], "unsubscribe")) {
        if (!listens) {
            return REDIS_ERR;
        }
        flags = CALL_CHANNELS;
    }
    command_pack(argc, argv, &args);
    bool channels = (flags & CALL_CHANNELS) != 0;
    return link_send(the_entered, connection, &args, channels ? 0 : packed, channels ? NULL : privdata, flags)
               ? REDIS_OK
               : REDIS_ERR;
}

int redisvAsyncCommand(redisAsyncContext *ac, redisCallbackFn *fn, void *privdata, const char *format,
                       va_list ap)
{
    char *text = NULL;
    int size = redisvFormatCommand(&text, format, ap);
    if (size < 0) {
        return REDIS_ERR;
    }
    int rc = send_command(ac, fn, privdata, text, (size_t)size);
    redisFreeCommand(text);
    return rc;
}

int redisAsyncCommand(redisAsyncContext *ac, redisCallbackFn *fn, void *privdata, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int rc = redisvAsyncCommand(ac, fn, privdata, format, args);
    va_end(args);
    return rc;
}

int redisAsyncCommandArgv(redisAsyncContext *ac, redisCallbackFn *fn, void *privdata, int argc,
                          const char **argv, const size_t *argvlen)
{
    char *text = NULL;
    int size = redisFormatCommandArgv(&text, argc, argv, argvlen);
    if (size < 0) {
        return REDIS_ERR;
    }
    int rc = send_command(ac, fn, privdata, text, (size_t)size);
    redisFreeCommand(text);
    return rc;
}

int redisAsyncFormattedCommand(redisAsyncContext *ac, redisCallbackFn *fn, void *privdata, const char *cmd,
                               size_t len)
{
    return send_command(ac, fn, privdata, cmd, len);
}

/* ---- functions that a world does not have: a call is a trouble with the function's name ---- */

#define MISSING(name, reason)                                                                                \
    {                                                                                                        \
        fake_trouble("%s: %s", #name, reason);                                                               \
    }
#define BLOCKING "a world has no blocking calls; use redisAsyncCommand() and its relatives"
#define SOCKETS "a world has no sockets"

void redisAsyncHandleRead(redisAsyncContext *ac)
{
    (void)ac;
    MISSING(redisAsyncHandleRead, SOCKETS)
}

void redisAsyncHandleWrite(redisAsyncContext *ac)
{
    (void)ac;
    MISSING(redisAsyncHandleWrite, SOCKETS)
}

redisAsyncContext *redisAsyncConnectUnix(const char *path)
{
    (void)path;
    MISSING(redisAsyncConnectUnix, SOCKETS)
    return NULL;
}

redisContext *redisConnect(const char *ip, int port)
{
    (void)ip, (void)port;
    MISSING(redisConnect, BLOCKING)
    return NULL;
}

redisContext *redisConnectWithTimeout(const char *ip, int port, const struct timeval tv)
{
    (void)ip, (void)port, (void)tv;
    MISSING(redisConnectWithTimeout, BLOCKING)
    return NULL;
}

redisContext *redisConnectNonBlock(const char *ip, int port)
{
    (void)ip, (void)port;
    MISSING(redisConnectNonBlock, SOCKETS)
    return NULL;
}

redisContext *redisConnectUnix(const char *path)
{
    (void)path;
    MISSING(redisConnectUnix, BLOCKING)
    return NULL;
}

redisContext *redisConnectFd(int fd)
{
    (void)fd;
    MISSING(redisConnectFd, BLOCKING)
    return NULL;
}

void *redisvCommand(redisContext *c, const char *format, va_list ap)
{
    (void)c, (void)format, (void)ap;
    MISSING(redisvCommand, BLOCKING)
    return NULL;
}

void *redisCommand(redisContext *c, const char *format, ...)
{
    (void)c, (void)format;
    MISSING(redisCommand, BLOCKING)
    return NULL;
}

void *redisCommandArgv(redisContext *c, int argc, const char **argv, const size_t *argvlen)
{
    (void)c, (void)argc, (void)argv, (void)argvlen;
    MISSING(redisCommandArgv, BLOCKING)
    return NULL;
}

int redisGetReply(redisContext *c, void **reply)
{
    (void)c, (void)reply;
    MISSING(redisGetReply, BLOCKING)
    return REDIS_ERR;
}
