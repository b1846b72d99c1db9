# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Functions that make layers, and programs and libraries out of layers. A layer without sources is no target, and
# whoever lists it goes without it.

# lockstep_layer(NAME [PIC] [RECIPE])
# Compiles src/NAME/*.c into one OBJECT library, lockstep_layer_NAME: the prefix is for projects that have this one inside.
# A folder in a layer, LAYER/FOLDER, is a layer of its own, lockstep_layer_LAYER_FOLDER.
# PIC: the objects also go into a shared library. RECIPE: what is searched is to be what is shipped.
function(lockstep_layer name)
    cmake_parse_arguments(PARSE_ARGV 1 layer "PIC;RECIPE" "" "")
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.c)
    if(NOT sources)
        return()
    endif()
    string(REPLACE / _ name ${name})
    add_library(lockstep_layer_${name} OBJECT ${sources})
    lockstep_includes(lockstep_layer_${name})
    # Conversions between signed and unsigned are too many at the border to zookeeper.h; !"text" is how assertions talk.
    target_compile_options(lockstep_layer_${name} PRIVATE -Wconversion -Wno-sign-conversion -Wno-string-conversion)
    set_target_properties(lockstep_layer_${name} PROPERTIES POSITION_INDEPENDENT_CODE ${layer_PIC})
    # What a shared library does not export nobody can replace, so calls need no detour.
    if(layer_PIC)
        target_compile_options(lockstep_layer_${name} PRIVATE -fvisibility=hidden -fno-semantic-interposition)
    endif()
    if(layer_RECIPE)
        target_compile_options(lockstep_layer_${name} PRIVATE ${RECIPE_OPTIONS})
    endif()
endfunction()

# lockstep_embed(LAYER FOLDER NAME...)
# Adds files to a layer as arrays of bytes (cmake/embed.cmake). Bytes from 128 on are no `char` of theirs, which is meant.
function(lockstep_embed layer folder)
    list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/${folder}/ OUTPUT_VARIABLE files)
    set(out ${PROJECT_BINARY_DIR}/embedded_${layer}.c)
    add_custom_command(
        OUTPUT ${out}
        COMMAND ${CMAKE_COMMAND} -D OUT=${out} -D LAYER=${layer} -D FOLDER=${PROJECT_SOURCE_DIR}/${folder} -D "NAMES=${ARGN}"
                -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
        DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
        VERBATIM)
    target_sources(lockstep_layer_${layer} PRIVATE ${out})
endfunction()

function(lockstep_includes target)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
    target_include_directories(${target} SYSTEM PRIVATE ${ZOOKEEPER_INCLUDE} ${HARNESS_INCLUDES})
endfunction()

# The objects of those of the layers that exist.
function(lockstep_objects out)
    set(objects)
    foreach(layer IN LISTS ARGN)
        string(REPLACE / _ layer ${layer})
        if(TARGET lockstep_layer_${layer})
            list(APPEND objects $<TARGET_OBJECTS:lockstep_layer_${layer}>)
        endif()
    endforeach()
    set(${out} ${objects} PARENT_SCOPE)
endfunction()

# lockstep_program(NAME LAYERS layer... [EXPORT pattern...])
# A program made of layers alone; it needs program, which has main().
function(lockstep_program name)
    cmake_parse_arguments(PARSE_ARGV 1 program "" "" "LAYERS;EXPORT")
    if(NOT TARGET lockstep_layer_program)
        return()
    endif()
    lockstep_objects(objects ${program_LAYERS})
    add_executable(${name} ${objects})
    # Recipes in shared objects find zookeeper.h and the environment here.
    list(TRANSFORM program_EXPORT PREPEND -Wl,--export-dynamic-symbol= OUTPUT_VARIABLE exports)
    target_link_options(${name} PRIVATE ${WHOLE_PROGRAM_OPTIONS} ${exports})
    target_link_libraries(${name} PRIVATE ${HARNESS_LIBRARIES})
endfunction()

# lockstep_library(TARGET STATIC|SHARED NAME name LAYERS layer... [LINK library...])
function(lockstep_library target kind)
    cmake_parse_arguments(PARSE_ARGV 2 library "" "NAME" "LAYERS;LINK")
    list(GET library_LAYERS 0 first)
    if(NOT TARGET lockstep_layer_${first})
        return()
    endif()
    lockstep_objects(objects ${library_LAYERS})
    add_library(${target} ${kind} ${objects})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${library_NAME} LINKER_LANGUAGE C)
    target_link_options(${target} PRIVATE ${SEPARATE_OPTIONS})
    target_link_libraries(${target} PUBLIC ${library_LINK})
    # A sanitizer's runtime is in the program that loads the library, so only plain builds can insist on closure. Around these
    # sources may be a project that has one.
    if(kind STREQUAL SHARED AND NOT LOCKSTEP_SANITIZE AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize")
        target_link_options(${target} PRIVATE -Wl,--no-undefined)
    endif()
endfunction()

# lockstep_sealed_library(TARGET NAME name KEEP pattern... LAYERS layer... [LINK library...])
# A static library of one object, in which only names that match a pattern are seen from outside: a program may have its
# own `timer_start`. It holds machine code alone, whatever form for a linker the objects have besides (flags.cmake).
function(lockstep_sealed_library target)
    cmake_parse_arguments(PARSE_ARGV 1 library "" "NAME" "KEEP;LAYERS;LINK")
    lockstep_objects(objects ${library_LAYERS})
    set(sealed ${PROJECT_BINARY_DIR}/${library_NAME}.o)
    list(TRANSFORM library_KEEP PREPEND --keep-global-symbol=)
    add_custom_command(
        OUTPUT ${sealed}
        COMMAND ${CMAKE_C_COMPILER} -r -nostdlib ${SEPARATE_OPTIONS} ${objects} -o ${sealed}
        COMMAND ${CMAKE_OBJCOPY} --wildcard ${library_KEEP} -R .gnu.lto_* -R .gnu.debuglto_* ${sealed}
        DEPENDS ${objects}
        COMMAND_EXPAND_LISTS VERBATIM)
    add_library(${target} STATIC ${sealed})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${library_NAME} LINKER_LANGUAGE C)
    target_link_libraries(${target} PUBLIC ${library_LINK})
endfunction()

# A library that is used from outside, as lockstep::NAME.
function(lockstep_public target name)
    target_link_libraries(${target} PUBLIC lockstep_headers)
    # Before 1.0 a minor version may break things: it is part of the name by which programs look for the library.
    if(PROJECT_VERSION_MAJOR EQUAL 0)
        set(soversion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
    else()
        set(soversion ${PROJECT_VERSION_MAJOR})
    endif()
    set_target_properties(${target} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${soversion} EXPORT_NAME ${name})
    add_library(lockstep::${name} ALIAS ${target})
endfunction()

# One C file that drives the harness itself: a test or a benchmark (WHOLE). The target is PREFIX_name, the program
# FOLDER/name.
function(lockstep_harness_program prefix source folder)
    cmake_parse_arguments(PARSE_ARGV 3 harness "WHOLE" "" "")
    lockstep_objects(objects ${HARNESS})
    lockstep_single_program(${prefix} ${source} ${folder})
    if(harness_WHOLE)
        target_link_options(${single_target} PRIVATE ${WHOLE_PROGRAM_OPTIONS})
    else()
        target_link_options(${single_target} PRIVATE ${SEPARATE_OPTIONS})
    endif()
    target_sources(${single_target} PRIVATE ${objects})
    target_link_libraries(${single_target} PRIVATE ${HARNESS_LIBRARIES})
    set(single_target ${single_target} PARENT_SCOPE)
endfunction()

# One C file that stands on the lock library and the real client.
function(lockstep_real_program prefix source folder)
    lockstep_single_program(${prefix} ${source} ${folder})
    foreach(library lockstep_real lockstep_static)
        if(TARGET ${library})
            target_link_libraries(${single_target} PRIVATE ${library})
        endif()
    endforeach()
    target_link_options(${single_target} PRIVATE ${SEPARATE_OPTIONS})
    target_link_libraries(${single_target} PRIVATE lockstep::zookeeper Threads::Threads)
    set(single_target ${single_target} PARENT_SCOPE)
endfunction()

function(lockstep_single_program prefix source folder)
    get_filename_component(name ${source} NAME_WE)
    set(target ${prefix}_${name})
    add_executable(${target} ${source})
    lockstep_includes(${target})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name}
                                               RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${folder})
    set(single_target ${target} PARENT_SCOPE)
endfunction()

# Counters of a coverage build would be variables of a recipe or a judge, which it must not have, and what writes them reads the
# environment, which it must not do.
function(lockstep_uncounted target)
    if(NOT LOCKSTEP_COVERAGE)
        return()
    endif()
    foreach(property COMPILE_OPTIONS LINK_OPTIONS)
        get_target_property(options ${target} ${property})
        list(REMOVE_ITEM options --coverage)
        set_property(TARGET ${target} PROPERTY ${property} ${options})
    endforeach()
endfunction()

# lockstep_recipe(TARGET source NAME name FOLDER folder [DEFINE definition...])
# A recipe of one C file as a shared object, FOLDER/NAME.so.
function(lockstep_recipe target source)
    cmake_parse_arguments(PARSE_ARGV 2 recipe "" "NAME;FOLDER" "DEFINE")
    add_library(${target} MODULE ${source})
    target_link_libraries(${target} PRIVATE lockstep::headers)
    target_compile_definitions(${target} PRIVATE ${recipe_DEFINE})
    target_compile_options(${target} PRIVATE ${RECIPE_OPTIONS})
    lockstep_uncounted(${target})
    set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${recipe_NAME}
                                               LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${recipe_FOLDER})
endfunction()
