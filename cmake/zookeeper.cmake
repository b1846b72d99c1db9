# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The ZooKeeper C client as targets, the same in this build and in the installed package:
#   lockstep::zookeeper_headers   <zookeeper/zookeeper.h>, which the locks' headers include
#   lockstep::zookeeper           the headers and libzookeeper_mt
find_library(ZOOKEEPER_MT zookeeper_mt)
find_path(ZOOKEEPER_INCLUDE zookeeper/zookeeper.h)
mark_as_advanced(ZOOKEEPER_MT ZOOKEEPER_INCLUDE)

if(NOT TARGET lockstep::zookeeper_headers AND ZOOKEEPER_INCLUDE)
    add_library(lockstep::zookeeper_headers INTERFACE IMPORTED GLOBAL)
    target_include_directories(lockstep::zookeeper_headers INTERFACE ${ZOOKEEPER_INCLUDE})
endif()

if(NOT TARGET lockstep::zookeeper AND TARGET lockstep::zookeeper_headers AND ZOOKEEPER_MT)
    add_library(lockstep::zookeeper UNKNOWN IMPORTED GLOBAL)
    set_target_properties(lockstep::zookeeper PROPERTIES IMPORTED_LOCATION ${ZOOKEEPER_MT})
    target_link_libraries(lockstep::zookeeper INTERFACE lockstep::zookeeper_headers)
endif()
