/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A guard for C++17: the lock is held as long as an object lives. usage: guard HOST:PORT
 *
 * The library's structs must stay where they are, so that the classes around them can be neither copied nor moved. */
#include <lockstep/env_pthread.h>
#include <lockstep/mutex.h>

#include <chrono>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace locks
{

struct Pinned {
    Pinned() = default;
    Pinned(const Pinned &) = delete;
    Pinned &operator=(const Pinned &) = delete;
};

class Error : public std::runtime_error
{
  public:
    explicit Error(int code) : std::runtime_error(ls_strerror(code)), code(code)
    {
    }
    const int code; /* enum ls_err */
};

inline void check(int code)
{
    if (code < 0)
        throw Error(code);
}

class Environment : Pinned
{
  public:
    Environment()
    {
        check(ls_env_pthread_open(&env));
    }
    ~Environment()
    {
        ls_env_pthread_close(env);
    }
    ls_env *env = nullptr;
};

class Session : Pinned
{
  public:
    /* The library keeps a pointer to the servers' names, hence the member. */
    Session(std::string servers, std::chrono::milliseconds timeout) : hosts(std::move(servers))
    {
        check(ls_session_init(&session, environment.env, hosts.c_str(), static_cast<int>(timeout.count()),
                              nullptr));
        check(ls_session_start(&session));
    }
    ~Session()
    {
        ls_session_close(&session);
    }

  private:
    friend class Mutex;
    Environment environment;
    std::string hosts;
    ls_session session{};
};

/* To be destroyed before its session. */
class Mutex : Pinned
{
  public:
    Mutex(Session &session, const std::string &path)
    {
        check(ls_mutex_init(&mutex, &session.session, path.c_str(), nullptr));
    }
    ~Mutex()
    {
        ls_mutex_close(&mutex);
    }

  private:
    friend class Guard;
    ls_mutex mutex{};
};

/* Holds the mutex for the thread that made it, which is the one to destroy it. */
class [[nodiscard]] Guard : Pinned
{
  public:
    Guard(Mutex &mutex, std::chrono::milliseconds timeout) : mutex(mutex.mutex)
    {
        check(ls_mutex_acquire(&this->mutex, static_cast<int>(timeout.count())));
    }
    /* A release whose answer is lost is completed in the background; a destructor has nobody to tell. */
    ~Guard()
    {
        (void)ls_mutex_release(&mutex);
    }

    int64_t token() const
    {
        return ls_mutex_token(&mutex, ls_env_self(mutex.session->env));
    }

  private:
    ls_mutex &mutex;
};

} // namespace locks

using namespace std::chrono_literals;

int main(int argc, char **argv)
{
    if (argc != 2) {
        std::cerr << "usage: guard HOST:PORT\n";
        return 2;
    }
    try {
        locks::Session session(argv[1], 10s);
        locks::Mutex mutex(session, "/examples/guard");
        std::vector<int64_t> tokens; /* guarded by the mutex alone */
        auto work = [&] {
            for (int round = 0; round < 10; round++) {
                locks::Guard guard(mutex, 20s);
                tokens.push_back(guard.token());
            }
        };
        std::thread other(work);
        work();
        other.join();
        for (size_t i = 1; i < tokens.size(); i++)
            if (tokens[i] <= tokens[i - 1])
                throw std::runtime_error("a fencing token that does not grow");
        std::cout << tokens.size() << " sections, tokens grow\n";
    } catch (const std::exception &error) {
        std::cerr << "guard: " << error.what() << "\n";
        return 1;
    }
    return 0;
}
