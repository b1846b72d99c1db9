# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Sourced by tests that compile as a user does: CC and CXX are what the library was built with, `flags` has its instrumentation.
CC=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$LOCKSTEP_BUILD_DIR/CMakeCache.txt")
case $(basename "$CC") in
clang*) CXX=${CC/%clang/clang++} ;;
*) CXX=${CC/%gcc/g++} ;;
esac
flags="-Wall -Wextra -Wpedantic -Werror"
[[ -z $LOCKSTEP_SANITIZE ]] || flags+=" -fsanitize=$LOCKSTEP_SANITIZE -fno-sanitize-recover=all"
if nm "$LOCKSTEP_BUILD_DIR/liblockstep.a" 2>/dev/null | grep __gcov_init >/dev/null; then
    flags+=" --coverage"
fi
