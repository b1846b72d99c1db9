/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* lockstep.hpp on the real client. usage: raii alone | server HOST:PORT | throw HOST:PORT | destroy HOST:PORT
 *
 * `alone` needs no server. `throw` and `destroy` do what a callback must not do, and end with status 7 by
 * std::terminate(). Exit status 0: all is as lockstep.hpp says. */
#include <lockstep/lockstep.hpp>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace std::chrono_literals;

#define EXPECT(truth)                                                                                        \
    do {                                                                                                     \
        if (!(truth)) {                                                                                      \
            std::cerr << __FILE__ << ":" << __LINE__ << ": not so: " << #truth << "\n";                      \
            std::exit(1);                                                                                    \
        }                                                                                                    \
    } while (0)

static const char nowhere[] = "127.0.0.1:1"; /* nobody listens there */

/* The code of the std::system_error that a call throws; 0: it throws none. */
template <class Call> static std::error_code thrown_by(Call call)
{
    try {
        call();
    } catch (const std::system_error &error) {
        EXPECT(std::string(error.what()).find(error.code().message()) != std::string::npos);
        return error.code();
    }
    return {};
}

/* ---- without a server ---- */

static void constructors_throw()
{
    EXPECT(thrown_by([] { lockstep::session session("", 10s); }) == LS_EINVAL);
    EXPECT(thrown_by([] { lockstep::session session(nowhere, 0s); }) == LS_EINVAL);
    lockstep::session session(nowhere, 10s);
    EXPECT(thrown_by([&] { lockstep::mutex mutex(session, "no/slash"); }) == LS_EINVAL);
    EXPECT(thrown_by([&] { lockstep::mutex mutex(session, "/a"); }) == std::error_code());
    EXPECT(thrown_by([&] { lockstep::rwlock lock(session, "no/slash"); }) == LS_EINVAL);
    EXPECT(thrown_by([&] { lockstep::rwlock lock(session, "/a"); }) == std::error_code());
    EXPECT(thrown_by([&] { lockstep::election election(session, "no/slash"); }) == LS_EINVAL);
    std::string long_id(2u << 20, 'x'); /* no request has room for it */
    EXPECT(thrown_by([&] { lockstep::election election(session, "/a", long_id); }) == LS_EOVERFLOW);
    lockstep::session unopened(nowhere, 10s);
    lockstep::election election(unopened, "/a", "me");
    EXPECT(thrown_by([&] { (void)election.leader(); }) == LS_ECLOSED);
    EXPECT(thrown_by([&] { lockstep::multi lock(0); }) == LS_EINVAL);
    lockstep::multi both(2);
    EXPECT(both.add_mutex(session, "/b") == 0 && both.add_leases(session, "/a", 2, 1) == 1);
    EXPECT(thrown_by([&] { both.add_reader(session, "/c"); }) == LS_EOVERFLOW);
    std::unique_lock<lockstep::multi> guard(both, 20ms);
    EXPECT(!guard && !both.try_lock());
}

static void who_does_not_get_the_lock_hears_no_exception()
{
    lockstep::session session(nowhere, 10s);
    lockstep::mutex mutex(session, "/locks/raii");
    EXPECT(!mutex.try_lock());
    EXPECT(!mutex.try_lock_for(20ms));
    EXPECT(!mutex.try_lock_for(std::chrono::microseconds(1)));
    std::unique_lock<lockstep::mutex> lock(mutex, 20ms);
    EXPECT(!lock);
    EXPECT(mutex.acquire(20ms).rc == LS_ETIMEDOUT);
    EXPECT(mutex.release() == LS_ENOTOWNER);
    mutex.unlock(); /* tells nobody */
    EXPECT(mutex.token() == 0 && mutex.query() == LS_NOT_HELD && mutex.belief_left() == 0ms);
    EXPECT(session.wait_connected(20ms) == LS_ETIMEDOUT);
}

static void durations_are_rounded_up()
{
    using lockstep::detail::to_ms;
    EXPECT(to_ms(0ms) == 0 && to_ms(-5s) == 0 && to_ms(std::chrono::nanoseconds(1)) == 1);
    EXPECT(to_ms(1500us) == 2 && to_ms(2ms) == 2 && to_ms(std::chrono::hours(10000)) == INT_MAX);
}

/* A thread is in lock() when another one destroys the mutex, or the session. */
static void whoever_waits_hears_that_the_mutex_is_destroyed(bool session_too)
{
    auto session = std::make_unique<lockstep::session>(nowhere, 10s);
    auto mutex = std::make_unique<lockstep::mutex>(*session, "/locks/raii");
    std::atomic<bool> waits(false);
    std::error_code code;
    std::thread waiter([&] {
        lockstep::mutex &waited = *mutex;
        waits = true;
        code = thrown_by([&] { std::lock_guard<lockstep::mutex> guard(waited); });
    });
    while (!waits)
        std::this_thread::yield();
    std::this_thread::sleep_for(100ms);
    mutex.reset();
    if (session_too)
        session.reset();
    waiter.join();
    EXPECT(code == LS_ECLOSED);
    EXPECT(code.category() == lockstep::category() && std::string(code.category().name()) == "lockstep");
}

static int run_alone()
{
    constructors_throw();
    who_does_not_get_the_lock_hears_no_exception();
    durations_are_rounded_up();
    whoever_waits_hears_that_the_mutex_is_destroyed(false);
    whoever_waits_hears_that_the_mutex_is_destroyed(true);
    return 0;
}

/* ---- with a server ---- */

static void guards_take_it(lockstep::session &session)
{
    lockstep::mutex mutex(session, "/locks/raii"), other(session, "/locks/raii_other");
    std::int64_t first = 0;
    {
        std::lock_guard<lockstep::mutex> guard(mutex);
        std::lock_guard<lockstep::mutex> inner(mutex); /* reentrant */
        first = mutex.token();
        EXPECT(first != 0 && mutex.query() == LS_HELD && mutex.belief_left() > 0ms);
        bool taken = true;
        std::thread([&] { taken = mutex.try_lock(); }).join();
        EXPECT(!taken);
    }
    EXPECT(mutex.query() == LS_NOT_HELD);
    std::scoped_lock<lockstep::mutex, lockstep::mutex> both(mutex, other);
    EXPECT(mutex.token() > first && other.token() != 0);
    std::unique_lock<lockstep::mutex> again(mutex, 10s);
    EXPECT(again && again.owns_lock());
    ls_outcome outcome = mutex.acquire(-1ms);
    EXPECT(outcome.rc == LS_OK && outcome.depth == 3 && outcome.token == mutex.token());
    EXPECT(!mutex.release());
}

static void a_hold_that_stands_is_given_back_and_told(lockstep::session &session)
{
    std::vector<std::int64_t> lost;
    lockstep::mutex::options options;
    options.on_lost = [&](std::uint64_t owner, std::int64_t token) {
        EXPECT(owner != 0);
        lost.push_back(token);
    };
    std::int64_t token = 0;
    {
        lockstep::mutex mutex(session, "/locks/raii", options);
        mutex.lock();
        mutex.lock();
        token = mutex.token();
    }
    EXPECT(lost.size() == 1 && lost[0] == token);
    lockstep::mutex mutex(session, "/locks/raii", options);
    std::lock_guard<lockstep::mutex> guard(mutex); /* nobody is in its way */
    EXPECT(mutex.token() > token && lost.size() == 1);
}

/* Whether another thread could take the lock now. */
static bool is_free_to_read(lockstep::rwlock &lock)
{
    bool taken = false;
    std::thread([&] {
        std::shared_lock<lockstep::rwlock> guard(lock, std::try_to_lock);
        taken = guard.owns_lock();
    }).join();
    return taken;
}

static bool is_free_to_write(lockstep::rwlock &lock)
{
    bool taken = false;
    std::thread([&] {
        std::unique_lock<lockstep::rwlock> guard(lock, 50ms);
        taken = guard.owns_lock();
    }).join();
    return taken;
}

static void readers_share_and_writers_do_not(lockstep::session &session)
{
    lockstep::rwlock lock(session, "/locks/raii_rwlock");
    {
        std::shared_lock<lockstep::rwlock> guard(lock, 10s);
        EXPECT(guard && is_free_to_read(lock) && !is_free_to_write(lock));
        EXPECT(thrown_by([&] { lock.lock(); }) == LS_EDEADLK);
        EXPECT(!lock.try_lock());
    }
    {
        std::lock_guard<lockstep::rwlock> guard(lock);
        EXPECT(!is_free_to_read(lock) && !is_free_to_write(lock));
        EXPECT(lock.try_lock_shared()); /* its own reader is let in */
        lock.unlock_shared();
    }
    lock.lock();
    lock.lock_shared();
    lock.unlock();
    EXPECT(is_free_to_read(lock) && !is_free_to_write(lock));
    lock.unlock_shared();
    EXPECT(is_free_to_write(lock));
    EXPECT(ls_mutex_query_by_me(&lock.get()->read) == LS_NOT_HELD);
}

static void leases_come_together_or_not_at_all(lockstep::session &session)
{
    lockstep::semaphore semaphore(session, "/locks/raii_semaphore", 3);
    EXPECT(thrown_by([&] { lockstep::semaphore none(session, "/locks/none", 0); }) == LS_EINVAL);
    semaphore.acquire(1, 2);
    EXPECT(ls_mutex_query(&semaphore.get()->leases, 2) == LS_HELD);
    EXPECT(!semaphore.try_acquire(10, 2) && !semaphore.try_acquire_for(10, 2, 50ms));
    EXPECT(thrown_by([&] { semaphore.acquire(1); }) == LS_EALREADY);
    std::thread([&] { semaphore.release(2); }).join(); /* a lease is no thread's */
    EXPECT(semaphore.try_acquire_for(10, 2, 10s));
    semaphore.release(10, 2);
    semaphore.release(1);
    EXPECT(semaphore.try_acquire(1, 3));
    semaphore.release(1, 3);
}

static void candidates_lead_one_after_the_other(lockstep::session &session)
{
    std::string long_id(100, 'b');
    lockstep::election first(session, "/locks/raii_election", "first");
    lockstep::election second(session, "/locks/raii_election", long_id);
    EXPECT(thrown_by([&] { (void)first.leader(); }) == LS_ENOENT);
    first.start();
    EXPECT(!first.await(10s) && first.query() == LS_HELD && first.token() != 0);
    EXPECT(second.await(0s) == LS_ENOENT);
    second.start();
    EXPECT(thrown_by([&] { second.start(); }) == LS_EALREADY);
    EXPECT(second.await(50ms) == LS_ETIMEDOUT && second.query() == LS_NOT_HELD);
    EXPECT(second.leader() == "first");
    std::int64_t token = first.token();
    EXPECT(!first.resign() && first.resign() == LS_ENOENT);
    EXPECT(!second.await(10s) && second.token() > token);
    EXPECT(first.leader() == long_id);
    EXPECT(!second.resign());
    int terms = 0;
    int last = first.lead(
        [&](std::int64_t given) {
            EXPECT(given == first.token());
            return ++terms < 3 ? 0 : 9;
        },
        true);
    EXPECT(last == 9 && terms == 3 && first.query() == LS_NOT_HELD);
    EXPECT(first.lead([](std::int64_t) { return 0; }) == 0);
}

static int run_on(const char *server)
{
    lockstep::session session(server, 10s);
    EXPECT(!session.wait_connected(10s));
    EXPECT(ls_session_state(session.get()) == LS_STATE_CONNECTED);
    guards_take_it(session);
    readers_share_and_writers_do_not(session);
    leases_come_together_or_not_at_all(session);
    candidates_lead_one_after_the_other(session);
    a_hold_that_stands_is_given_back_and_told(session);
    return 0;
}

/* ---- what a callback must not do ---- */

[[noreturn]] static void end_with_7()
{
    _exit(7);
}

static int misuse_callback(const char *server, bool destroys)
{
    std::set_terminate(end_with_7);
    std::unique_ptr<lockstep::mutex> second;
    lockstep::mutex::options options;
    options.on_lost = [&](std::uint64_t, std::int64_t) {
        if (!destroys)
            throw std::runtime_error("out of a callback");
        second.reset();
    };
    lockstep::session session(server, 10s);
    second = std::make_unique<lockstep::mutex>(session, "/locks/raii_other");
    lockstep::mutex mutex(session, "/locks/raii", options);
    mutex.lock();
    ls_mutex_close(mutex.get());
    return 0;
}

int main(int argc, char **argv)
{
    std::string what = argc > 1 ? argv[1] : "";
    if (what == "alone")
        return run_alone();
    if (argc == 3 && what == "server")
        return run_on(argv[2]);
    if (argc == 3 && (what == "throw" || what == "destroy"))
        return misuse_callback(argv[2], what == "destroy");
    std::cerr << "usage: raii alone | server HOST:PORT | throw HOST:PORT | destroy HOST:PORT\n";
    return 2;
}
