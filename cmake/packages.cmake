# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# `cpack -G DEB` in a build folder makes three packages, one for each component of the installation (install.cmake):
# liblockstepSOVERSION, liblockstep-dev and lockstep; where hiredis is there, lockstep-redis.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME lockstep)
set(CPACK_PACKAGE_CONTACT "the lockstep authors <lockstep@localhost>")
set(CPACK_PACKAGE_VENDOR "the lockstep authors")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_COMPONENTS_ALL library dev program)
set(CPACK_DEB_COMPONENT_INSTALL ON)

get_target_property(soversion lockstep_shared SOVERSION)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME liblockstep${soversion})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "locks for ZooKeeper
 A session and a reentrant mutex that exclude each other with those of Curator.")

set(CPACK_DEBIAN_DEV_PACKAGE_NAME liblockstep-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "liblockstep${soversion} (= ${PROJECT_VERSION}), libzookeeper-mt-dev")
set(CPACK_COMPONENT_DEV_DESCRIPTION "locks for ZooKeeper, headers and libraries
 What a program needs to be built with lockstep, and to be tested without a server.")

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME lockstep)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS gdb) # lockstep debug
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "simulator and model checker for lock recipes
 Runs the locks of liblockstep in a simulated world of connections that break and sessions that expire.")

set(packages LIBRARY DEV PROGRAM)
if(TARGET lockstep_redis_shared)
    list(APPEND packages REDIS)
    list(APPEND CPACK_COMPONENTS_ALL redis)
    set(CPACK_DEBIAN_REDIS_PACKAGE_NAME lockstep-redis)
    set(CPACK_DEBIAN_REDIS_PACKAGE_SECTION devel)
    set(CPACK_DEBIAN_REDIS_PACKAGE_DEPENDS "liblockstep-dev (= ${PROJECT_VERSION}), libhiredis-dev")
    set(CPACK_DEBIAN_REDIS_PACKAGE_SUGGESTS gdb)
    set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})
    set(CPACK_COMPONENT_REDIS_DESCRIPTION "lock on Redis, and simulator for such locks
 A mutex with a lease for programs on hiredis, and worlds of Redis for the simulator of lockstep.")
endif()

foreach(component IN LISTS packages)
    string(TOLOWER ${component} name)
    install(
        FILES LICENSE
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${component}_PACKAGE_NAME}
        RENAME copyright
        COMPONENT ${name})
endforeach()
include(CPack)
