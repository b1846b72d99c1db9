/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A real Redis server on loopback, for one test. The package redis-tools has it under the name of one of its tools. */
#ifndef TESTS_REALREDIS_SERVER_H
#define TESTS_REALREDIS_SERVER_H

#include <arpa/inet.h>
#include <hiredis/hiredis.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SERVER_BINARY "/usr/bin/redis-check-rdb"

/* A replica writes a file of this name, by port, and would read it at its next start. */
#define SERVER_FOLDER "/dev/shm"
#define SERVER_FILE "realredis-%d.rdb"

struct server {
    pid_t pid;
    int port;
    char hosts[64];
};

static void sleep_ms(long ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&time, &time) != 0) {
    }
}

__attribute__((unused)) static long now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* A port that was free a moment ago. */
static int free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0) {
        abort();
    }
    close(fd);
    return ntohs(address.sin_port);
}

static void server_name(struct server *server, int port)
{
    server->port = port;
    snprintf(server->hosts, sizeof server->hosts, "127.0.0.1:%d", port);
}

static void forget_file(const struct server *server)
{
    char path[64];
    snprintf(path, sizeof path, SERVER_FOLDER "/" SERVER_FILE, server->port);
    unlink(path);
}

/* Starts a server on server->port, with more arguments up to NULL, and waits until it listens. */
static void server_start_on(struct server *server, ...)
{
    char port[16], file[32];
    char *arguments[24] = {(char *)"redis-server", (char *)"--port",       port,       (char *)"--bind",
                           (char *)"127.0.0.1",    (char *)"--save",       (char *)"", (char *)"--logfile",
                           (char *)"/dev/null",    (char *)"--dbfilename", file};
    int count = 11;
    va_list more;
    va_start(more, server);
    while (count < 23 && (arguments[count] = va_arg(more, char *)) != NULL) {
        count++;
    }
    va_end(more);
    snprintf(port, sizeof port, "%d", server->port);
    snprintf(file, sizeof file, SERVER_FILE, server->port);
    forget_file(server); /* of a test that failed */
    server->pid = fork();
    if (server->pid == 0) {
        if (chdir(SERVER_FOLDER) != 0) {
            _exit(127);
        }
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execv(SERVER_BINARY, arguments);
        _exit(127);
    }
    for (int i = 0; i < 200; i++) {
        redisContext *context = redisConnect("127.0.0.1", server->port);
        bool listens = context != NULL && context->err == 0;
        redisFree(context);
        if (listens) {
            return;
        }
        sleep_ms(20);
    }
    abort();
}

__attribute__((unused)) static void server_start(struct server *server)
{
    server_name(server, free_port());
    server_start_on(server, NULL);
}

static void server_kill(struct server *server)
{
    kill(server->pid, SIGKILL);
    kill(server->pid, SIGCONT);
    waitpid(server->pid, NULL, 0);
    server->pid = 0;
    forget_file(server);
}

/* The server does nothing until it goes on. */
__attribute__((unused)) static void stop_process(const struct server *server)
{
    kill(server->pid, SIGSTOP);
    waitpid(server->pid, NULL, WUNTRACED);
}

__attribute__((unused)) static void continue_process(const struct server *server)
{
    kill(server->pid, SIGCONT);
}

/* Sends one command. The result is the integer of the reply, 1 for a status or a text, 0 for nil, -1 for an error. */
__attribute__((unused)) static long long server_command(const struct server *server, const char *format, ...)
{
    redisContext *context = redisConnect("127.0.0.1", server->port);
    long long result = -1;
    va_list arguments;
    va_start(arguments, format);
    redisReply *reply = redisvCommand(context, format, arguments);
    va_end(arguments);
    if (reply != NULL && reply->type != REDIS_REPLY_ERROR) {
        result = reply->type == REDIS_REPLY_INTEGER ? reply->integer : reply->type != REDIS_REPLY_NIL;
    }
    freeReplyObject(reply);
    redisFree(context);
    return result;
}

#endif
