# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The ZooKeeper C client as targets, the same in this build and in the installed package:
#   lockstep::zookeeper_headers   <zookeeper/zookeeper.h>, which the locks' headers include
#   lockstep::zookeeper           the headers and libzookeeper_mt
# Without them LOCKSTEP_ZOOKEEPER_MISSING says what is missing.
find_library(ZOOKEEPER_MT zookeeper_mt)
find_path(ZOOKEEPER_INCLUDE zookeeper/zookeeper.h)
mark_as_advanced(ZOOKEEPER_MT ZOOKEEPER_INCLUDE)

# The first with zoo_set_servers_resolution_delay(), without which each request looks up the servers' names.
set(LOCKSTEP_ZOOKEEPER_LEAST 3.7)
set(LOCKSTEP_ZOOKEEPER_MISSING
    "libzookeeper_mt or zookeeper/zookeeper.h is missing (Debian: libzookeeper-mt-dev)")

# The version of the headers in this folder; 0 if they are too old to say it in one string.
function(lockstep_zookeeper_version folder out)
    set(version 0)
    if(EXISTS ${folder}/zookeeper/zookeeper_version.h)
        file(STRINGS ${folder}/zookeeper/zookeeper_version.h line REGEX "define +ZOO_VERSION +\"")
        if(line MATCHES "\"([0-9.]+)")
            set(version ${CMAKE_MATCH_1})
        endif()
    endif()
    set(${out} ${version} PARENT_SCOPE)
endfunction()

if(ZOOKEEPER_INCLUDE)
    lockstep_zookeeper_version(${ZOOKEEPER_INCLUDE} LOCKSTEP_ZOOKEEPER_VERSION)
endif()
if(ZOOKEEPER_INCLUDE AND LOCKSTEP_ZOOKEEPER_VERSION VERSION_LESS LOCKSTEP_ZOOKEEPER_LEAST)
    set(LOCKSTEP_ZOOKEEPER_MISSING
        "the ZooKeeper client in ${ZOOKEEPER_INCLUDE} has version ${LOCKSTEP_ZOOKEEPER_VERSION}; ${LOCKSTEP_ZOOKEEPER_LEAST} is the least"
    )
elseif(NOT TARGET lockstep::zookeeper_headers AND ZOOKEEPER_INCLUDE)
    add_library(lockstep::zookeeper_headers INTERFACE IMPORTED GLOBAL)
    target_include_directories(lockstep::zookeeper_headers INTERFACE ${ZOOKEEPER_INCLUDE})
endif()

if(NOT TARGET lockstep::zookeeper AND TARGET lockstep::zookeeper_headers AND ZOOKEEPER_MT)
    add_library(lockstep::zookeeper UNKNOWN IMPORTED GLOBAL)
    set_target_properties(lockstep::zookeeper PROPERTIES IMPORTED_LOCATION ${ZOOKEEPER_MT})
    target_link_libraries(lockstep::zookeeper INTERFACE lockstep::zookeeper_headers)
endif()
