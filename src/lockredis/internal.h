/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The lock library for Redis, inside.
 *
 * The connections are in client.c, the scripts and replies in request.c, the attempts to get a key in
 * lock.c. The owners and their answers are in claim.c, the public functions in redis_mutex.c.
 *
 * A process makes one attempt at a time to get a key, whichever owner will have it. The attempt has an id,
 * which becomes the value of the key. An attempt ends in a grant to the owner that is first in the queue
 * then. If no owner waits any more, the key is given back. So an owner that gives up changes nothing about
 * the attempt.
 *
 * Repeating a request is harmless: each says which ids it is about. A request that the server does late
 * finds another id, or leaves a key without renewals.
 *
 * All functions expect the environment's mutex, unless they say otherwise. */
#ifndef LOCKREDIS_INTERNAL_H
#define LOCKREDIS_INTERNAL_H

#include <lockstep/redis.h>
#include <lockstep/redis_mutex.h>

#define ID_SIZE 16
#define ID_TEXT_SIZE (2 * ID_SIZE + 1)

struct redisReply;

/* ---- claims: owners ---- */

enum claim_phase {
    CLAIM_WAITS, /* its acquire has no answer */
    CLAIM_HOLDS,
    CLAIM_LEAVES, /* its release has no answer */
    CLAIM_LOST,   /* it has lost its hold, and its owner has not released it */
    CLAIM_OVER,   /* it only stands for answers to deliver */
};

/* Bits of the answers to deliver. */
enum { TELL_DONE = 1, TELL_LOST = 2, TELL_FREED = 4 };

/* A thread in a blocking call; it lies on the stack of that thread. */
struct redis_call {
    struct ls_waiter waiter;
    int rc;
    bool done;
};

struct redis_claim {
    struct redis_claim *next;      /* next claim of the lock, in the order of their acquires */
    struct redis_claim *next_note; /* next claim with an answer to deliver */
    struct redis_lock *lock;
    struct redis_call *call; /* NULL = the answer goes to a callback */
    uint64_t owner;
    int64_t token;
    struct ls_timer deadline_timer;
    uint32_t depth;
    uint8_t phase;   /* an enum claim_phase */
    uint8_t tells;   /* bits of the answers to deliver */
    int8_t done_rc;  /* result code of TELL_DONE */
    int8_t freed_rc; /* result code of TELL_FREED */
    bool is_try;
    bool noted; /* it stands in the queue of notes */
    uint8_t reserved[6];
};

/* Adds a claim that waits. NULL = there is no memory. */
struct redis_claim *lockredis_claim_add(struct redis_lock *lock, uint64_t owner);

/* The claim of an owner that is in one of these phases (bits 1 << phase), the oldest; NULL = none. */
struct redis_claim *lockredis_claim_find(const struct redis_lock *lock, uint64_t owner, unsigned phases);

/* The first claim in one of these phases; NULL = none. */
struct redis_claim *lockredis_claim_first(const struct redis_lock *lock, unsigned phases);

/* A blocking call that waits for an answer; NULL = none. */
struct redis_call *lockredis_claim_next_call(const struct ls_redis *redis);

/* Whether an owner waits for an answer through a callback. */
bool lockredis_claim_awaits_callback(const struct ls_redis *redis);

/* Answers the acquire of a claim that waits. If `rc` is 0, it holds from now on. */
void lockredis_claim_answer(struct redis_claim *claim, int rc, int64_t token);

/* Answers all claims that wait, or those that only try. */
void lockredis_claim_answer_all(struct redis_lock *lock, bool tries_only, int rc);

/* Ends a hold by a loss. */
void lockredis_claim_lose(struct redis_claim *claim);

/* Answers the release of a claim that leaves. */
void lockredis_claim_freed(struct redis_claim *claim, int rc);

/* Ends a claim for good, and forgets it once it has nothing to deliver. */
void lockredis_claim_end(struct redis_claim *claim);

/* Delivers what is queued: drops the mutex for each callback. Does nothing while another thread delivers, and
 * leaves the delivery to another thread if lockredis_loop_defers() says so. */
void lockredis_claim_deliver(struct ls_redis *redis);

/* ---- locks: keys ---- */

/* Stages of the process's work on one key. */
enum lock_stage {
    STAGE_NONE,       /* no owner holds or waits */
    STAGE_TAKING,     /* asks for the key */
    STAGE_CONFIRMING, /* has the key, and asks how many replicas know that */
    STAGE_WAITING,    /* another client has the key */
    STAGE_HELD,
    STAGE_GIVING, /* gives the key back */
};

enum lock_request { REQUEST_NONE, REQUEST_TAKE, REQUEST_CONFIRM, REQUEST_RENEW, REQUEST_GIVE };

enum lock_subscription { SUBSCRIPTION_NONE, SUBSCRIPTION_ASKED, SUBSCRIPTION_MADE };

struct redis_lock {
    struct redis_lock *next; /* next lock of the client */
    struct ls_redis *redis;
    struct ls_redis_mutex *mutex; /* NULL = closed: what is left is to give the key back */
    struct redis_claim *first;    /* list of claims */
    struct ls_timer poll_timer;
    struct ls_timer renewal_timer;
    struct ls_timer lease_timer; /* runs until the belief in the lease ends */
    struct ls_stamp sent;        /* when the request under way was sent */
    struct ls_stamp confirmed;   /* when the last request was sent that the server has confirmed */
    int64_t token;               /* of a grant that replicas are to confirm */
    uint8_t id[ID_SIZE];         /* id of the attempt or hold; zeros = none */
    uint8_t old[ID_SIZE];        /* id of the hold that is handed over; zeros = none */
    uint8_t stage;               /* an enum lock_stage */
    uint8_t asked;               /* an enum lock_request: the one that has no reply */
    uint8_t subscription;        /* an enum lock_subscription */
    uint8_t handovers;           /* number of hand-overs in a row */
    bool has;                    /* the key may have the value `id` or `old` */
    bool granted;                /* a hold had the id `id` */
    bool repeated;               /* a request of this stage was sent before, and its reply was lost */
    bool renews;                 /* a renewal is to be sent */
    bool woken;                  /* a message came since the last take was sent */
    bool stands_back;            /* others get their turn before the next take */
    bool pauses;                 /* the request of this stage is sent when the poll is due */
    bool closing;                /* the mutex is being closed, or is closed */
    char name[];                 /* the key and its zero byte */
};

/* Makes a lock and adds it to the client. NULL = there is no memory. */
struct redis_lock *lockredis_lock_open(struct ls_redis *redis, const char *name);

/* The mutex is closed: answers its claims, and gives back what is held. */
void lockredis_lock_close(struct redis_lock *lock);

/* Frees all locks. Their claims have had their answers. */
void lockredis_lock_free_all(struct ls_redis *redis);

/* Frees the lock, if it is closed and nothing is left to do or to come. */
void lockredis_lock_forget_if_done(struct redis_lock *lock);

/* Returns the request to send now; REQUEST_NONE also while a reply is to come. */
enum lock_request lockredis_lock_wants(const struct redis_lock *lock);

/* That request was sent. */
void lockredis_lock_sent(struct redis_lock *lock, enum lock_request request);

/* A claim was added, or has given up. */
void lockredis_lock_go_on(struct redis_lock *lock);

/* The owner of this claim gives its hold up. */
void lockredis_lock_leave(struct redis_lock *lock, struct redis_claim *claim);

/* A message says that the key may be free, or messages come from now on. */
void lockredis_lock_heard(struct redis_lock *lock);

enum answer_kind {
    ANSWER_LOST,    /* the connection ended before a reply came */
    ANSWER_YES,     /* number: token of a take, number of replicas */
    ANSWER_NO,      /* number, of a take: ms until the lease of the holder ends;
                       of a renewal: -1 = the key has the id, but not for this hold */
    ANSWER_UNKNOWN, /* the server does not know the script */
    ANSWER_LATER,   /* the server did nothing, and may do it later */
    ANSWER_REFUSED, /* the server did nothing, nor will it */
};

struct lock_answer {
    enum answer_kind kind;
    int64_t number;
};

/* The request under way has this answer. */
void lockredis_lock_answered(struct redis_lock *lock, const struct lock_answer *answer);

/* The fencing token of the present hold; 0 = there is no hold. */
int64_t lockredis_lock_token(const struct redis_lock *lock);

/* Whether an id is none of zeros. */
bool lockredis_lock_has_id(const uint8_t id[ID_SIZE]);

/* For how many ms more the hold may be believed in. */
int64_t lockredis_lock_belief_left_ms(const struct redis_lock *lock);

/* ---- requests ---- */

/* Sends what the lock wants. False = hiredis did not take it. */
bool lockredis_request_send(struct redis_lock *lock, enum lock_request request);

/* Sends the subscription to the lock's channel. */
bool lockredis_request_subscribe(struct redis_lock *lock);

/* Whether the text of an error begins with one of these words; NULL ends them. */
bool lockredis_request_begins(const struct redisReply *reply, const char *const *words);

/* The digests of the scripts, for tests. `which` counts from 0; NULL behind the last. */
const char *lockredis_request_script(int which, const char **digest);

/* ---- clients ---- */

const struct ls_redis_options *lockredis_client_options(const struct ls_redis *redis);
uint32_t lockredis_client_lease_ms(const struct ls_redis *redis);

/* A constant as its distance from a constant of this library: unlike a pointer, the distance is the same
 * wherever a program is loaded. */
intptr_t lockredis_client_distance(const void *constant);
const void *lockredis_client_constant(intptr_t distance);

/* Called at the end of everything that changes something: has it sent, and delivers. */
void lockredis_client_settle(struct ls_redis *redis);

/* Only has it sent. */
void lockredis_client_go_on(struct ls_redis *redis);

/* As lockredis_client_settle(), and waits until another thread has answered the call. */
void lockredis_client_await(struct ls_redis *redis, struct redis_call *call);

/* Sends, connects and disconnects. Called without the mutex, by the thread that uses hiredis. */
void lockredis_client_run(struct ls_redis *redis);

/* Sends all requests to send, if each wanted connection is up. Returns false if one is to be made or ended.
 * That may take long, so lockredis_client_run() does it. */
bool lockredis_client_send(struct ls_redis *redis);

/* Whether lockredis_client_run() has something to do. */
bool lockredis_client_has_work(const struct ls_redis *redis);

/* Returns whether there is work that no thread in a blocking call does. If no such call waits (`call_waits`
 * is false), all other work and an answer to come count, too. */
bool lockredis_client_needs_thread(const struct ls_redis *redis, bool call_waits);

/* A reply came to a command that lockredis_client_counts() counted, or was lost. */
void lockredis_client_counts(struct ls_redis *redis);
void lockredis_client_replied(struct ls_redis *redis, bool lost);

/* The server is of no use now: the client goes to the next one. */
void lockredis_client_moves(struct ls_redis *redis);

/* Waits until no callback is running. It drops the mutex meanwhile. */
void lockredis_client_drain(struct ls_redis *redis);

/* Wakes all threads that wait for a change of the client. */
void lockredis_client_changed(struct ls_redis *redis);

#endif
