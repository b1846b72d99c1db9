/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The locks for C++17: session.h, mutex.h, rwlock.h, semaphore.h, multi.h and election.h with constructors
 * and destructors.
 *
 *   lockstep::session session("zk1:2181,zk2:2181", std::chrono::seconds(10));
 *   lockstep::mutex mutex(session, "/locks/report");
 *   std::lock_guard<lockstep::mutex> guard(mutex);
 *
 * - lockstep::mutex has lock(), try_lock(), try_lock_for() and unlock(). So std::lock_guard,
 *   std::unique_lock and std::scoped_lock accept it.
 * - lockstep::rwlock has the same functions for its write half. For its read half it has lock_shared(),
 *   try_lock_shared(), try_lock_shared_for() and unlock_shared(). So std::shared_lock accepts it.
 *
 * The owner of both locks is the calling thread, and both are reentrant.
 *
 * Errors: a function throws if its comment says so. It then throws std::system_error, whose code has a value
 * of enum ls_err and the category lockstep::category(). The function unlock() does not tell how the release
 * ended; mutex::release() does. The functions try_lock() and try_lock_for() return false for any reason, also
 * one that lasts, such as a session that has failed. The function mutex::acquire() tells the reason.
 *
 * Loss: a guard goes on when its hold is lost. Another thread of this program may be granted the lock then.
 * The functions query() and belief_left() of lockstep::mutex, and its callback `on_lost`, tell of a loss.
 *
 * Lifetime: objects can be neither copied nor moved. A mutex is destroyed before its session. One thread
 * may destroy a mutex or a session while other threads wait in lock(), try_lock() or try_lock_for(). Such
 * a call ends then: lock() throws LS_ECLOSED, the others return false. As for std::mutex, no call may
 * begin when the destructor has begun; the unlock() of a guard is such a call. A hold that stands then is
 * given back.
 *
 * Callbacks: `on_lost` of lockstep::mutex::options runs where session.h says. An exception that leaves
 * `on_lost` ends the program with std::terminate(), because a C library has called it. A destructor that
 * runs inside a callback ends the program in the same way, because a close waits for that callback. */
#ifndef LOCKSTEP_LOCKSTEP_HPP
#define LOCKSTEP_LOCKSTEP_HPP

#include <lockstep/election.h>
#include <lockstep/env_pthread.h>
#include <lockstep/error.h>
#include <lockstep/multi.h>
#include <lockstep/mutex.h>
#include <lockstep/rwlock.h>
#include <lockstep/semaphore.h>
#include <lockstep/session.h>

#include <chrono>
#include <climits>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

namespace lockstep
{

/* ---- errors ---- */

namespace detail
{

class error_category final : public std::error_category
{
  public:
    const char *name() const noexcept override
    {
        return "lockstep";
    }

    std::string message(int code) const override
    {
        return ls_strerror(code);
    }
};

/* Milliseconds as the C functions take them: at least 0, rounded up, at most INT_MAX. */
template <class Rep, class Period> int to_ms(std::chrono::duration<Rep, Period> duration) noexcept
{
    using milliseconds = std::chrono::duration<double, std::milli>;
    double ms = std::chrono::duration_cast<milliseconds>(duration).count();
    if (!(ms > 0))
        return 0;
    if (ms >= INT_MAX)
        return INT_MAX;
    int whole = static_cast<int>(ms);
    return whole < ms ? whole + 1 : whole;
}

/* Base of objects that do not move: the library keeps the addresses of its structs. */
class pinned
{
  protected:
    pinned() = default;
    ~pinned() = default;

  public:
    pinned(const pinned &) = delete;
    pinned &operator=(const pinned &) = delete;
};

} // namespace detail

/* Returns the category of the codes of enum ls_err. */
__attribute__((visibility("default"))) inline const std::error_category &category() noexcept
{
    static const detail::error_category instance;
    return instance;
}

namespace detail
{

/* Returns a code of enum ls_err as std::error_code. */
inline std::error_code error_of(int code) noexcept
{
    return {code, category()};
}

/* Throws std::system_error if the code is negative. */
inline void check(int code, const char *what)
{
    if (code < 0)
        throw std::system_error(error_of(code), what);
}

/* Ends the program if a close was refused. A close is refused inside callbacks alone. */
inline void closed(int code) noexcept
{
    if (code == LS_EDEADLK)
        std::terminate();
}

} // namespace detail

/* ---- the session ---- */

/* A session with an environment of its own. */
class session : detail::pinned
{
  public:
    /* Opens a session, which connects in the background. `options` and what it points to must outlive the
     * session. Throws what ls_env_pthread_open(), ls_session_init() and ls_session_start() return. */
    session(std::string hosts, std::chrono::milliseconds timeout, const ls_session_options *options = nullptr)
        : hosts_(std::move(hosts))
    {
        detail::check(
            ls_session_init(&session_, environment_.get(), hosts_.c_str(), detail::to_ms(timeout), options),
            "lockstep::session");
        int code = ls_session_start(&session_);
        if (code < 0)
            detail::closed(ls_session_close(&session_));
        detail::check(code, "lockstep::session");
    }

    /* Closes the session, as ls_session_close() does. */
    ~session()
    {
        detail::closed(ls_session_close(&session_));
    }

    /* Does what ls_session_wait_connected() does. */
    template <class Rep, class Period>
    std::error_code wait_connected(std::chrono::duration<Rep, Period> timeout) noexcept
    {
        return detail::error_of(ls_session_wait_connected(&session_, detail::to_ms(timeout)));
    }

    /* Returns the struct of session.h, for functions that have no method here. */
    ls_session *get() noexcept
    {
        return &session_;
    }

  private:
    class environment : detail::pinned
    {
      public:
        environment()
        {
            detail::check(ls_env_pthread_open(&env_), "lockstep::session");
        }
        ~environment()
        {
            ls_env_pthread_close(env_);
        }
        ls_env *get() noexcept
        {
            return env_;
        }

      private:
        ls_env *env_ = nullptr;
    };

    environment environment_; /* ends behind the session */
    std::string hosts_;       /* the library keeps a pointer to it */
    ls_session session_{};
};

/* ---- the mutex ---- */

/* A reentrant distributed mutex, for threads of this and other programs. */
class mutex : detail::pinned
{
  public:
    /* The options of a mutex. */
    struct options {
        /* Callback for each hold that has ended without its release, as on_lost of mutex.h. `owner` is the
         * number of the thread that held the lock. May be empty. */
        std::function<void(std::uint64_t owner, std::int64_t token)> on_lost;

        const ACL_vector *acl = nullptr;              /* ACL of its nodes, as in struct ls_mutex_options */
        struct ls_mutex_counters *counters = nullptr; /* counters of this mutex, as there */
    };

    /* Sets the mutex up, without asking a server. Throws what ls_mutex_init() returns. */
    mutex(session &session, const std::string &path) : mutex(session, path, options())
    {
    }

    mutex(session &session, const std::string &path, options options) : on_lost_(std::move(options.on_lost))
    {
        ops_.on_lost = on_lost_ ? tell_lost : nullptr;
        options_.ops = &ops_;
        options_.acl = options.acl;
        options_.counters = options.counters;
        holder_.self = this;
        detail::check(ls_mutex_init(&holder_.mutex, session.get(), path.c_str(), &options_),
                      "lockstep::mutex");
    }

    /* Closes the mutex, as ls_mutex_close() does. */
    ~mutex()
    {
        detail::closed(ls_mutex_close(get()));
    }

    /* Takes the lock, however long that lasts. Throws what ls_mutex_acquire() returns. */
    void lock()
    {
        detail::check(ls_mutex_acquire(get(), -1), "lockstep::mutex::lock");
    }

    /* Takes the lock if it is free, or if the calling thread holds it. Returns whether it was taken. */
    [[nodiscard]] bool try_lock() noexcept
    {
        return ls_mutex_try(get()) == LS_OK;
    }

    /* Takes the lock within the time, if that is possible. Returns whether it was taken. */
    template <class Rep, class Period>
    [[nodiscard]] bool try_lock_for(std::chrono::duration<Rep, Period> timeout) noexcept
    {
        return ls_mutex_acquire(get(), detail::to_ms(timeout)) == LS_OK;
    }

    /* Does what ls_mutex_acquire_outcome() does, without a bound if `timeout` is negative. */
    ls_outcome acquire(std::chrono::milliseconds timeout) noexcept
    {
        ls_outcome outcome{};
        ls_mutex_acquire_outcome(get(), timeout.count() < 0 ? -1 : detail::to_ms(timeout), &outcome);
        return outcome;
    }

    /* Gives one level back. */
    void unlock() noexcept
    {
        (void)ls_mutex_release(get());
    }

    /* Gives one level back, and returns the code of ls_mutex_release(). */
    std::error_code release() noexcept
    {
        return detail::error_of(ls_mutex_release(get()));
    }

    /* Returns the fencing token of the calling thread's hold, or 0. */
    std::int64_t token() const noexcept
    {
        return ls_mutex_token_by_me(get());
    }

    /* Returns what the calling thread may believe. */
    ls_belief query() const noexcept
    {
        return ls_mutex_query_by_me(get());
    }

    /* Returns for how long query() will go on returning LS_HELD, as ls_mutex_belief_left_ms() says. */
    std::chrono::milliseconds belief_left() const noexcept
    {
        return std::chrono::milliseconds(ls_mutex_belief_left_by_me(get()));
    }

    /* Returns the struct of mutex.h, for functions that have no method here. */
    ls_mutex *get() noexcept
    {
        return &holder_.mutex;
    }

    const ls_mutex *get() const noexcept
    {
        return &holder_.mutex;
    }

  private:
    /* A callback finds the object by its struct, which comes first here. */
    struct holder {
        ls_mutex mutex{};
        class mutex *self = nullptr;
    };

    static void tell_lost(ls_mutex *mutex, std::uint64_t owner, std::int64_t token) noexcept
    {
        reinterpret_cast<holder *>(mutex)->self->on_lost_(owner, token);
    }

    std::function<void(std::uint64_t, std::int64_t)> on_lost_;
    ls_mutex_ops ops_{};
    ls_mutex_options options_{};
    holder holder_;
};

/* ---- the read-write lock ---- */

/* A reentrant distributed read-write lock, for threads of this and other programs. A thread that holds the
 * write half may call lock_shared() and then unlock(): no other thread gets the write half in between. A
 * thread that holds the read half alone must not call lock(), which throws LS_EDEADLK. */
class rwlock : detail::pinned
{
  public:
    /* Sets both halves up, without asking a server. `options` and what it points to must outlive the lock.
     * Throws what ls_rwlock_init() returns. */
    rwlock(session &session, const std::string &path, const ls_mutex_options *options = nullptr)
    {
        detail::check(ls_rwlock_init(&lock_, session.get(), path.c_str(), options), "lockstep::rwlock");
    }

    /* Closes both halves, as ls_rwlock_close() does. */
    ~rwlock()
    {
        detail::closed(ls_rwlock_close(&lock_));
    }

    /* Takes the write half, however long that lasts. Throws what ls_mutex_acquire() returns. */
    void lock()
    {
        detail::check(ls_mutex_acquire(&lock_.write, -1), "lockstep::rwlock::lock");
    }

    /* Takes the write half if it is free, or if the calling thread holds it. Returns whether it was taken. */
    [[nodiscard]] bool try_lock() noexcept
    {
        return ls_mutex_try(&lock_.write) == LS_OK;
    }

    /* Takes the write half within the time, if that is possible. Returns whether it was taken. */
    template <class Rep, class Period>
    [[nodiscard]] bool try_lock_for(std::chrono::duration<Rep, Period> timeout) noexcept
    {
        return ls_mutex_acquire(&lock_.write, detail::to_ms(timeout)) == LS_OK;
    }

    /* Gives one level of the write half back. */
    void unlock() noexcept
    {
        (void)ls_mutex_release(&lock_.write);
    }

    /* Takes the read half, however long that lasts. Throws what ls_mutex_acquire() returns. */
    void lock_shared()
    {
        detail::check(ls_mutex_acquire(&lock_.read, -1), "lockstep::rwlock::lock_shared");
    }

    /* Takes the read half if no other owner holds the write half or is ahead with it, or if the calling
     * thread holds the read half. Returns whether it was taken. */
    [[nodiscard]] bool try_lock_shared() noexcept
    {
        return ls_mutex_try(&lock_.read) == LS_OK;
    }

    /* Takes the read half within the time, if that is possible. Returns whether it was taken. */
    template <class Rep, class Period>
    [[nodiscard]] bool try_lock_shared_for(std::chrono::duration<Rep, Period> timeout) noexcept
    {
        return ls_mutex_acquire(&lock_.read, detail::to_ms(timeout)) == LS_OK;
    }

    /* Gives one level of the read half back. */
    void unlock_shared() noexcept
    {
        (void)ls_mutex_release(&lock_.read);
    }

    /* Returns the struct of rwlock.h, for functions that have no method here. */
    ls_rwlock *get() noexcept
    {
        return &lock_;
    }

  private:
    ls_rwlock lock_{};
};

/* ---- the semaphore ---- */

/* A distributed semaphore. Leases have numbers that the caller chooses; any thread may release a lease. */
class semaphore : detail::pinned
{
  public:
    /* Sets the semaphore up, without asking a server. `options` and what it points to must outlive it. Throws
     * what ls_semaphore_init() returns. */
    semaphore(session &session, const std::string &path, std::uint32_t capacity,
              const ls_mutex_options *options = nullptr)
    {
        detail::check(ls_semaphore_init(&semaphore_, session.get(), path.c_str(), capacity, options),
                      "lockstep::semaphore");
    }

    /* Closes the semaphore, as ls_semaphore_close() does. */
    ~semaphore()
    {
        detail::closed(ls_semaphore_close(&semaphore_));
    }

    /* Takes `count` leases from the number `first` on, however long that lasts. Throws what
     * ls_semaphore_acquire() returns. */
    void acquire(std::uint64_t first, std::uint32_t count = 1)
    {
        detail::check(ls_semaphore_acquire(&semaphore_, first, count, -1), "lockstep::semaphore::acquire");
    }

    /* Takes the leases if there is room and no other acquire is ahead in line. Returns whether they are
     * held. */
    [[nodiscard]] bool try_acquire(std::uint64_t first, std::uint32_t count = 1) noexcept
    {
        return ls_semaphore_acquire(&semaphore_, first, count, 0) == LS_OK;
    }

    /* Takes the leases within the time, if that is possible. Returns whether they are held. */
    template <class Rep, class Period>
    [[nodiscard]] bool try_acquire_for(std::uint64_t first, std::uint32_t count,
                                       std::chrono::duration<Rep, Period> timeout) noexcept
    {
        return ls_semaphore_acquire(&semaphore_, first, count, detail::to_ms(timeout)) == LS_OK;
    }

    /* Gives `count` leases back, from the number `first` on. */
    void release(std::uint64_t first, std::uint32_t count = 1) noexcept
    {
        for (std::uint32_t i = 0; i < count; i++)
            (void)ls_semaphore_release(&semaphore_, first + i);
    }

    /* Returns the struct of semaphore.h, for functions that have no method here. */
    ls_semaphore *get() noexcept
    {
        return &semaphore_;
    }

  private:
    ls_semaphore semaphore_{};
};

/* ---- several locks at once ---- */

/* Several locks at once, all of them or none. A std::unique_lock takes it. */
class multi : detail::pinned
{
  public:
    /* Sets a multi up for at most `capacity` members. `options` and what it points to must outlive it. Throws
     * LS_EINVAL if the capacity is 0. */
    explicit multi(std::uint32_t capacity, const ls_multi_options *options = nullptr) : members_(capacity)
    {
        detail::check(ls_multi_init(&multi_, members_.data(), capacity, options), "lockstep::multi");
    }

    /* Closes the multi, as ls_multi_close() does. */
    ~multi()
    {
        detail::closed(ls_multi_close(&multi_));
    }

    /* Each adds one member and returns its number. Each throws what the function of multi.h returns. */
    int add_mutex(session &session, const std::string &path)
    {
        return added(ls_multi_add_mutex(&multi_, session.get(), path.c_str()));
    }
    int add_reader(session &session, const std::string &path)
    {
        return added(ls_multi_add_reader(&multi_, session.get(), path.c_str()));
    }
    int add_writer(session &session, const std::string &path)
    {
        return added(ls_multi_add_writer(&multi_, session.get(), path.c_str()));
    }
    int add_leases(session &session, const std::string &path, std::uint32_t capacity, std::uint32_t count)
    {
        return added(ls_multi_add_leases(&multi_, session.get(), path.c_str(), capacity, count));
    }

    /* Takes all members, however long that lasts. Throws what ls_multi_acquire() returns. */
    void lock()
    {
        detail::check(ls_multi_acquire(&multi_, -1), "lockstep::multi::lock");
    }

    /* Takes all members if they are free, or if the calling thread holds them. Returns whether they were
     * taken. */
    [[nodiscard]] bool try_lock() noexcept
    {
        return ls_multi_try(&multi_) == LS_OK;
    }

    /* Takes all members within the time, if that is possible. Returns whether they were taken. */
    template <class Rep, class Period>
    [[nodiscard]] bool try_lock_for(std::chrono::duration<Rep, Period> timeout) noexcept
    {
        return ls_multi_acquire(&multi_, detail::to_ms(timeout)) == LS_OK;
    }

    /* Gives one level of all members back. */
    void unlock() noexcept
    {
        (void)ls_multi_release(&multi_);
    }

    /* Returns the struct of multi.h, for functions that have no method here. */
    ls_multi *get() noexcept
    {
        return &multi_;
    }

  private:
    static int added(int number)
    {
        detail::check(number < 0 ? number : 0, "lockstep::multi");
        return number;
    }

    std::vector<ls_multi_member> members_;
    ls_multi multi_{};
};

/* ---- the election ---- */

/* A candidate of an election. The destructor ends the candidacy. No thread may be in lead() then. */
class election : detail::pinned
{
  public:
    /* Sets the election up, without asking a server. The function leader() returns `id` while this
     * candidate leads. `options` and what it points to must outlive the election. Throws what
     * ls_election_init() and ls_election_set_id() return. */
    election(session &session, const std::string &path, std::string id = {},
             const ls_election_options *options = nullptr)
        : id_(std::move(id))
    {
        detail::check(ls_election_init(&election_, session.get(), path.c_str(), options),
                      "lockstep::election");
        int rc = ls_election_set_id(&election_, id_.data(), static_cast<int>(id_.size()));
        if (rc != LS_OK)
            ls_election_close(&election_);
        detail::check(rc, "lockstep::election");
    }

    /* Closes the election, as ls_election_close() does. */
    ~election()
    {
        detail::closed(ls_election_close(&election_));
    }

    /* Stands for election. Throws what ls_election_start() returns. */
    void start()
    {
        detail::check(ls_election_start(&election_), "lockstep::election::start");
    }

    /* Ends the candidacy, and returns what ls_election_resign() returns. */
    std::error_code resign() noexcept
    {
        int rc = ls_election_resign(&election_);
        return rc < 0 ? detail::error_of(rc) : std::error_code();
    }

    /* Waits within the time until this candidate leads. Returns what ls_election_await() returns. */
    template <class Rep, class Period>
    [[nodiscard]] std::error_code await(std::chrono::duration<Rep, Period> timeout) noexcept
    {
        int rc = ls_election_await(&election_, detail::to_ms(timeout));
        return rc < 0 ? detail::error_of(rc) : std::error_code();
    }

    /* Stands for election, and calls `work` with the token of the term while this candidate leads; see
     * ls_election_lead(). `work` returns an int from 0 on, and throws nothing. Returns its last value.
     * Throws what ls_election_lead() returns. */
    template <class Work> int lead(Work work, bool requeue = false)
    {
        auto call = [](ls_election *, std::int64_t token, void *user) noexcept -> int {
            return (*static_cast<Work *>(user))(token);
        };
        int rc = ls_election_lead(&election_, call, &work, requeue ? LS_ELECTION_REQUEUE : 0u);
        detail::check(rc, "lockstep::election::lead");
        return rc;
    }

    /* Returns what this candidate may believe of its own leadership. */
    [[nodiscard]] ls_belief query() const noexcept
    {
        return ls_election_query(&election_);
    }

    /* Returns the fencing token of the present term, 0 if this candidate does not lead. */
    [[nodiscard]] std::int64_t token() const noexcept
    {
        return ls_election_token(&election_);
    }

    /* Returns the id of the leader. Throws what ls_election_leader() returns: LS_ENOENT if there is no
     * candidate. */
    [[nodiscard]] std::string leader()
    {
        std::string id(64, '\0');
        int size = ls_election_leader(&election_, id.data(), id.size());
        while (size == LS_EOVERFLOW) {
            id.resize(id.size() * 4);
            size = ls_election_leader(&election_, id.data(), id.size());
        }
        detail::check(size, "lockstep::election::leader");
        id.resize(static_cast<std::size_t>(size));
        return id;
    }

    /* Returns the struct of election.h, for functions that have no method here. */
    ls_election *get() noexcept
    {
        return &election_;
    }

  private:
    std::string id_;
    ls_election election_{};
};

} // namespace lockstep

/* The next two definitions let a std::error_code be compared with a code: error.code() == LS_ETIMEDOUT. */
inline std::error_code make_error_code(enum ls_err code) noexcept
{
    return lockstep::detail::error_of(code);
}

template <> struct std::is_error_code_enum<ls_err> : std::true_type {
};

#endif
