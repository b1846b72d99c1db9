/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The lock library for Redis, inside.
 *
 * The connections and the client's public functions are in client.c, the scripts and replies in request.c,
 * the attempts to get a key in lock.c. The owners and their answers are in owner_queue.c, the public
 * functions of a mutex in redis_mutex.c.
 *
 * A client makes one attempt at a time to get a key, for all owners that wait for it. The attempt has an id,
 * which becomes the value of the key. The owner that has waited longest is granted the key. If no owner waits
 * any more, the key is given back. An owner that gives up leaves the request under way as it is.
 *
 * A request whose reply is lost may have been done, and may be done late. So each script compares the value
 * of the key with the ids that it is about (request.c).
 *
 * All functions expect the environment's mutex to be held, unless they say otherwise. */
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
    CLAIM_OVER,   /* it is freed when its callbacks are made */
};

/* Callbacks to make: on_done(), on_lost(), on_freed(). */
enum { TELL_DONE = 1, TELL_LOST = 2, TELL_FREED = 4 };

/* A blocking call, on the stack of its thread. */
struct redis_call {
    struct ls_waiter waiter;
    int rc;
    bool done;
};

struct redis_claim {
    struct redis_claim *next;      /* next claim of the lock, in the order of acquires */
    struct redis_claim *next_note; /* next claim in the queue of notes (ls_redis.notes) */
    struct redis_lock *lock;
    struct redis_call *call; /* blocking call that gets the next answer; NULL = a callback gets it */
    uint64_t owner;
    int64_t token;
    struct ls_timer deadline_timer;
    uint32_t depth;
    uint8_t phase;   /* an enum claim_phase */
    uint8_t tells;   /* bits TELL_ of the callbacks to make */
    int8_t done_rc;  /* result code of TELL_DONE */
    int8_t freed_rc; /* result code of TELL_FREED */
    bool is_try;     /* its acquire does not wait for another holder */
    bool noted;      /* it stands in the queue of notes */
    uint8_t reserved[6];
};

/* Adds a CLAIM_WAITS. NULL = memory is short. */
struct redis_claim *lockredis_claim_add(struct redis_lock *lock, uint64_t owner);

/* Return the oldest claim, of an owner or of all, in one of these phases (bits 1 << phase); NULL = none. */
struct redis_claim *lockredis_claim_find(const struct redis_lock *lock, uint64_t owner, unsigned phases);
struct redis_claim *lockredis_claim_first(const struct redis_lock *lock, unsigned phases);

/* Returns a blocking call that waits for an answer; NULL = none. */
struct redis_call *lockredis_claim_next_call(const struct ls_redis *redis);

/* Returns whether some acquire or release without an answer will get it by a callback. */
bool lockredis_claim_awaits_callback(const struct ls_redis *redis);

/* Answers the acquire of a CLAIM_WAITS. With LS_OK it becomes a CLAIM_HOLDS, otherwise it ends. */
void lockredis_claim_answer(struct redis_claim *claim, int rc, int64_t token);

/* Answers the acquires of all CLAIM_WAITS, with `tries_only` of those with is_try alone. `rc` is an error. */
void lockredis_claim_answer_all(struct redis_lock *lock, bool tries_only, int rc);

/* Makes a CLAIM_LOST of a CLAIM_HOLDS, and tells its owner. */
void lockredis_claim_lose(struct redis_claim *claim);

/* Answers the release of a CLAIM_LEAVES, and ends it. */
void lockredis_claim_freed(struct redis_claim *claim, int rc);

/* Ends a claim: frees it now, or, if callbacks are noted for it, when they are delivered. */
void lockredis_claim_end(struct redis_claim *claim);

/* Makes the callbacks that are noted, each without the mutex, unless another thread does or is to. */
void lockredis_claim_deliver(struct ls_redis *redis);

/* ---- locks: keys ---- */

/* Stages of the client's work on one key. */
enum lock_stage {
    STAGE_NONE,       /* no owner holds or waits */
    STAGE_TAKING,     /* the client asks for the key */
    STAGE_CONFIRMING, /* the client has the key, and asks for the number of replicas that have the write */
    STAGE_WAITING,    /* another client has the key, or is to have its turn */
    STAGE_HELD,       /* an owner holds */
    STAGE_GIVING,     /* the client gives the key back */
};

enum lock_request { REQUEST_NONE, REQUEST_TAKE, REQUEST_CONFIRM, REQUEST_RENEW, REQUEST_GIVE };

enum lock_subscription { SUBSCRIPTION_NONE, SUBSCRIPTION_ASKED, SUBSCRIPTION_MADE };

struct redis_lock {
    struct redis_lock *next;
    struct ls_redis *redis;
    struct ls_redis_mutex *mutex; /* NULL = it is closed, and the key is still to be given back */
    struct redis_claim *first;    /* oldest of the claims */
    struct ls_timer poll_timer;
    struct ls_timer renewal_timer;
    struct ls_timer lease_timer; /* ends the belief in the lease */
    struct ls_stamp sent;        /* when the last take or renewal was sent */
    struct ls_stamp confirmed;   /* when the last take or renewal was sent that the server has confirmed */
    int64_t token;               /* of STAGE_CONFIRMING: token of the grant to come */
    uint8_t id[ID_SIZE];         /* id of the attempt or hold; zeros = none */
    uint8_t old[ID_SIZE];        /* id of the hold that is handed over; zeros = none */
    uint8_t stage;               /* an enum lock_stage */
    uint8_t asked;               /* an enum lock_request: the request without a reply */
    uint8_t subscription;        /* an enum lock_subscription */
    uint8_t handovers;           /* number of hand-overs in a row */
    bool has;                    /* the key may have the value `id` or `old` */
    bool granted;                /* `id` is the id of a hold, or of a former one */
    bool repeated;               /* a request of this stage was sent before, and its reply was lost */
    bool renews;                 /* a renewal is to be sent */
    bool woken;                  /* a message came since the last take was sent */
    bool stands_back;            /* other clients get their turn before the next take */
    bool pauses;                 /* the request of this stage is to be sent when poll_timer fires */
    bool closing;                /* a close has begun */
    char name[];                 /* name of the key */
};

/* Makes a lock and adds it to the client. NULL = memory is short. */
struct redis_lock *lockredis_lock_open(struct ls_redis *redis, const char *name);

/* Begins a close: answers the claims, and has the key given back. */
void lockredis_lock_close(struct redis_lock *lock);

/* Frees all locks of a client, whose claims are gone. */
void lockredis_lock_free_all(struct ls_redis *redis);

/* Frees the lock if its mutex is closed, no claim is left, and no request is to be sent or under way. */
void lockredis_lock_forget_if_done(struct redis_lock *lock);

/* Returns the request to send now. REQUEST_NONE = none, also while the last one has no reply, or the lock
 * pauses. */
enum lock_request lockredis_lock_wants(const struct redis_lock *lock);

/* To be called right before that request is sent. */
void lockredis_lock_sent(struct redis_lock *lock, enum lock_request request);

/* To be called when a claim was added, or has given up. */
void lockredis_lock_go_on(struct redis_lock *lock);

void lockredis_lock_leave(struct redis_lock *lock, struct redis_claim *claim);

/* To be called when a message says that the key may be free, and when the subscription begins. */
void lockredis_lock_heard(struct redis_lock *lock);

enum answer_kind {
    ANSWER_LOST,    /* the connection ended before a reply came */
    ANSWER_YES,     /* number: token of a take, number of replicas */
    ANSWER_NO,      /* number, of a take: ms until the lease of the holder ends, negative = never;
                       of a renewal: -1 = the key has the id, but not for this hold */
    ANSWER_UNKNOWN, /* the server does not know the script */
    ANSWER_LATER,   /* the server did nothing, and may do it later */
    ANSWER_REFUSED, /* the server did nothing, nor will it */
};

struct lock_answer {
    enum answer_kind kind;
    int64_t number;
};

void lockredis_lock_answered(struct redis_lock *lock, const struct lock_answer *answer);

int64_t lockredis_lock_token(const struct redis_lock *lock); /* fencing token of the hold; 0 = no hold */

bool lockredis_lock_has_id(const uint8_t id[ID_SIZE]); /* false = all zeros */

/* Returns for how many ms more the hold may be believed in; 0 = no more. */
int64_t lockredis_lock_belief_left_ms(const struct redis_lock *lock);

/* Send a request of lockredis_lock_wants(), or a SUBSCRIBE. False = hiredis refused it. */
bool lockredis_request_send(struct redis_lock *lock, enum lock_request request);
bool lockredis_request_subscribe(struct redis_lock *lock);

/* Returns whether the text of an error begins with one of these words; NULL ends the list. */
bool lockredis_request_begins(const struct redisReply *reply, const char *const *words);

/* Returns the text of the script with the number `which`, from 0, and its digest; NULL = there is no such
 * script. For tests. */
const char *lockredis_request_script(int which, const char **digest);

const struct ls_redis_options *lockredis_client_options(const struct ls_redis *redis);
uint32_t lockredis_client_lease_ms(const struct ls_redis *redis);

/* Returns the longest time in ms for which the server waits for replicas, before it answers a WAIT. */
uint32_t lockredis_client_replicas_ms(const struct ls_redis *redis);

/* Returns the distance of a constant from a constant of this library; 0 for NULL. Unlike a pointer, it does
 * not depend on the address at which a program is loaded. */
intptr_t lockredis_client_distance(const void *constant);
/* Returns the constant at a distance of lockredis_client_distance(); NULL for 0. */
const void *lockredis_client_constant(intptr_t distance);

/* To be called after each change of a lock or a connection. If lockredis_client_has_work() and
 * lockredis_client_run() is not running, wakes the thread that uses hiredis. Then makes the callbacks that
 * are noted. */
void lockredis_client_settle(struct ls_redis *redis);

/* The first half of lockredis_client_settle(): makes no callbacks. */
void lockredis_client_go_on(struct ls_redis *redis);

/* Does lockredis_client_settle(), then waits until another thread has answered the call. */
void lockredis_client_await(struct ls_redis *redis, struct redis_call *call);

/* Sends, connects and disconnects. Called without the mutex, by the thread that uses hiredis. */
void lockredis_client_run(struct ls_redis *redis);

/* Sends the wanted requests, if each wanted connection is up. Returns false if one is not up, or is to be
 * ended. Connecting and ending may take long, so lockredis_client_run() does them. */
bool lockredis_client_send(struct ls_redis *redis);

bool lockredis_client_has_work(const struct ls_redis *redis); /* for lockredis_client_run() */

/* Returns whether the client's own thread must lead (loopredis/lead.h). Reasons are a connection that is not
 * up, a noted callback, and an answer to come by a callback. If no blocking call waits (`call_waits` is
 * false), any work and any answer to come is a reason, too. */
bool lockredis_client_needs_thread(const struct ls_redis *redis, bool call_waits);

/* Count a command that was sent, and its reply or the loss of it. */
void lockredis_client_counts(struct ls_redis *redis);
void lockredis_client_replied(struct ls_redis *redis, bool lost);

/* Makes the client leave its server for the next one of the connect string, once for each connection. */
void lockredis_client_moves(struct ls_redis *redis);

/* Waits until no callback is running. Drops the mutex meanwhile. */
void lockredis_client_drain(struct ls_redis *redis);

void lockredis_client_changed(struct ls_redis *redis); /* wakes all threads that wait for a change of it */

#endif
