/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The mutex in C++17. Two threads work under one lock, as threads of two programs would. usage: guard HOST:PORT */
#include <lockstep/lockstep.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <vector>

using namespace std::chrono_literals;

static std::vector<std::int64_t> tokens;
static std::mutex tokens_mutex; /* a hold that is lost no longer keeps the other thread out */

/* Ten sections. A loss in one of them is told to a callback, on another thread. */
static void work(lockstep::mutex &mutex)
{
    for (int round = 0; round < 10; round++) {
        std::lock_guard<lockstep::mutex> guard(mutex);
        std::lock_guard<std::mutex> local(tokens_mutex);
        tokens.push_back(mutex.token());
    }
}

static void run(const char *servers)
{
    lockstep::session session(servers, 10s);
    lockstep::mutex::options options;
    options.on_lost = [](std::uint64_t, std::int64_t token) {
        std::cerr << "the hold with token " << token << " is lost\n";
    };
    lockstep::mutex mutex(session, "/examples/guard", options);
    if (std::error_code code = session.wait_connected(20s))
        throw std::system_error(code, "no connection");
    std::unique_lock<lockstep::mutex> lock(mutex, 20s);
    if (!lock)
        throw std::runtime_error("no lock within 20 s");
    lock.unlock();
    std::future<void> other = std::async(std::launch::async, work, std::ref(mutex));
    work(mutex);
    other.get();
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        std::cerr << "usage: guard HOST:PORT\n";
        return 2;
    }
    try {
        run(argv[1]);
    } catch (const std::system_error &error) {
        std::cerr << "guard: " << error.what()
                  << (error.code() == LS_EINVAL ? ": is this HOST:PORT?\n" : "\n");
        return 1;
    } catch (const std::exception &error) {
        std::cerr << "guard: " << error.what() << "\n";
        return 1;
    }
    for (std::size_t i = 1; i < tokens.size(); i++)
        if (tokens[i] <= tokens[i - 1])
            return 1;
    std::cout << tokens.size() << " sections, tokens grow\n";
    return 0;
}
