# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# What `cmake --install` puts where, in components: `library` (what a linked program needs to run), `dev` (what it
# needs to be built and tested) and `program` (the harness); where hiredis is there, `redis` (library and harness for Redis).
include(CMakePackageConfigHelpers)
set(CMAKE_FILES ${CMAKE_INSTALL_LIBDIR}/cmake/lockstep)
set(PKGCONFIG_FILES ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(
    TARGETS lockstep_shared lockstep_static lockstep_fake lockstep_sim lockstep_headers
    EXPORT lockstepTargets
    LIBRARY COMPONENT library NAMELINK_COMPONENT dev
    ARCHIVE COMPONENT dev)
install(DIRECTORY include/lockstep DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev FILES_MATCHING PATTERN *.h
        PATTERN *.hpp)

install(EXPORT lockstepTargets NAMESPACE lockstep:: DESTINATION ${CMAKE_FILES} COMPONENT dev)
configure_package_config_file(
    cmake/lockstepConfig.cmake.in ${PROJECT_BINARY_DIR}/package/lockstepConfig.cmake INSTALL_DESTINATION ${CMAKE_FILES})
# Before 1.0 a minor version may break things, from then on a major one.
if(PROJECT_VERSION_MAJOR EQUAL 0)
    set(compatibility SameMinorVersion)
else()
    set(compatibility SameMajorVersion)
endif()
write_basic_package_version_file(
    ${PROJECT_BINARY_DIR}/package/lockstepConfigVersion.cmake COMPATIBILITY ${compatibility})
install(
    FILES ${PROJECT_BINARY_DIR}/package/lockstepConfig.cmake ${PROJECT_BINARY_DIR}/package/lockstepConfigVersion.cmake
          cmake/zookeeper.cmake
    DESTINATION ${CMAKE_FILES}
    COMPONENT dev)

# A .pc file finds its prefix from where it lies, so that the tree may be installed elsewhere or moved.
file(RELATIVE_PATH PC_TO_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" PC_TO_PREFIX ${PC_TO_PREFIX})
foreach(name lockstep lockstep-fake lockstep-sim)
    configure_file(cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/package/${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/package/${name}.pc DESTINATION ${PKGCONFIG_FILES} COMPONENT dev)
endforeach()

if(TARGET lockstep_redis_shared)
    install(
        TARGETS lockstep_redis_shared lockstep_redis_static
        EXPORT lockstepRedisTargets
        LIBRARY COMPONENT redis NAMELINK_COMPONENT redis
        ARCHIVE COMPONENT redis)
    install(EXPORT lockstepRedisTargets NAMESPACE lockstep:: DESTINATION ${CMAKE_FILES} COMPONENT redis)
    configure_file(cmake/lockstep-redis.pc.in ${PROJECT_BINARY_DIR}/package/lockstep-redis.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/package/lockstep-redis.pc DESTINATION ${PKGCONFIG_FILES} COMPONENT redis)
endif()
if(TARGET lockstep_redis)
    install(TARGETS lockstep_redis RUNTIME COMPONENT redis)
    install(FILES examples/redis/leased.c DESTINATION ${CMAKE_INSTALL_DATADIR}/lockstep/recipes COMPONENT redis)
endif()

if(LOCKSTEP_PROGRAM)
    install(TARGETS lockstep RUNTIME COMPONENT program)
    install(DIRECTORY scenarios DESTINATION ${CMAKE_INSTALL_DATADIR}/lockstep COMPONENT program)
    install(FILES examples/recipes/next_in_line.c DESTINATION ${CMAKE_INSTALL_DATADIR}/lockstep/recipes COMPONENT program)
    install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
endif()
