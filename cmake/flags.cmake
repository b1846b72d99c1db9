# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Language, warnings and instrumentation: the same for every layer, so that one preset has one kind of object.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Assertions are on in every build: no preset defines NDEBUG.
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O3 -g")
set(CMAKE_C_FLAGS_DEBUG "-O1 -g")
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

add_compile_definitions(_GNU_SOURCE LOCKSTEP_VERSION="${PROJECT_VERSION}")
add_compile_options(
    -Wall
    -Wextra
    -Wpedantic
    -Wshadow
    -Wstrict-prototypes
    -Wmissing-prototypes
    -Wpointer-arith
    -Wwrite-strings
    -Wvla
    # __FILE__ in a message is the path inside the project, on any machine.
    -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=
)
if(LOCKSTEP_WERROR)
    add_compile_options(-Werror)
endif()

# Left to itself, gcc copies and clears small structs by string instructions, which take longer to begin than the rest of such a
# copy takes: a tenth of a search's time.
if(CMAKE_C_COMPILER_ID STREQUAL GNU AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    add_compile_options(
        -mmemcpy-strategy=unrolled_loop:128:noalign,libcall:-1:noalign
        -mmemset-strategy=unrolled_loop:128:noalign,libcall:-1:noalign
    )
endif()

if(LOCKSTEP_SANITIZE)
    add_compile_options(-fsanitize=${LOCKSTEP_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${LOCKSTEP_SANITIZE})
endif()

# gcc's release programs are optimised as a whole, a fifth of a step's time. Objects hold machine code and the form for
# that; tests and libraries link the machine code as it is. Recipes are compiled without it: the code that is searched is
# to the byte the code that is shipped.
set(WHOLE_PROGRAM_OPTIONS)
set(SEPARATE_OPTIONS)
set(RECIPE_OPTIONS)
if(LOCKSTEP_PROGRAM AND CMAKE_C_COMPILER_ID STREQUAL GNU AND CMAKE_BUILD_TYPE STREQUAL RelWithDebInfo)
    add_compile_options(-flto -ffat-lto-objects)
    set(WHOLE_PROGRAM_OPTIONS -flto=2 -O3)
    set(SEPARATE_OPTIONS -fno-lto)
    set(RECIPE_OPTIONS -fno-lto)
endif()

if(LOCKSTEP_COVERAGE)
    set(CMAKE_C_FLAGS_DEBUG "-O0 -g")
    # Counters of several threads: without atomic updates they contradict each other.
    add_compile_options(--coverage -fprofile-update=atomic)
    add_link_options(--coverage)
endif()
