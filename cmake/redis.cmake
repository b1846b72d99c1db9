# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# What the fake of Redis stands on: hiredis 0.14 (formats requests, parses replies), Lua 5.1 (scripts), libcrypto (their
# digests). LOCKSTEP_REDIS says whether all are there, LOCKSTEP_HIREDIS whether hiredis is.
find_library(HIREDIS hiredis)
find_path(HIREDIS_INCLUDE hiredis/async.h)
find_library(LUA51 NAMES lua5.1)
find_path(LUA51_INCLUDE lua.h PATH_SUFFIXES lua5.1)
find_library(CRYPTO crypto)
find_path(CRYPTO_INCLUDE openssl/sha.h)
mark_as_advanced(HIREDIS HIREDIS_INCLUDE LUA51 LUA51_INCLUDE CRYPTO CRYPTO_INCLUDE)

set(LOCKSTEP_HIREDIS OFF)
if(HIREDIS AND HIREDIS_INCLUDE)
    set(LOCKSTEP_HIREDIS ON)
endif()
set(LOCKSTEP_REDIS OFF)
if(LOCKSTEP_PROGRAM AND LOCKSTEP_HIREDIS AND LUA51 AND LUA51_INCLUDE AND CRYPTO AND CRYPTO_INCLUDE)
    set(LOCKSTEP_REDIS ON)
endif()
set(REDIS_LIBRARIES ${HIREDIS} ${LUA51} ${CRYPTO} m)

# What recipes in shared objects may call.
set(REDIS_NAMES redisAsync* redisvAsyncCommand redisFormat* redisvFormatCommand redisFree*Command)

# Adds Redis as a coordinator, and its recipes, to a program that has the harness.
function(lockstep_add_redis target)
    lockstep_objects(objects fakeredis coordredis lockredis lockredis/world lockredis/published)
    target_sources(${target} PRIVATE ${objects})
    target_link_libraries(${target} PRIVATE ${REDIS_LIBRARIES})
    target_include_directories(${target} SYSTEM PRIVATE ${HIREDIS_INCLUDE})
endfunction()
