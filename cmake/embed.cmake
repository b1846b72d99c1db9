# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# cmake -D OUT=FILE.c -D LAYER=report -D FOLDER=... -D NAMES=page.html;... -P embed.cmake
# Writes a C file with the bytes of each file, a zero behind them, as `const char report_page_html[]`. Parts of pages lose their
# indentation, and scripts and styles their comments but for the licence: those are for readers of the source alone.
set(text "/* Made for src/${LAYER} by cmake/embed.cmake. */\n")
foreach(name IN LISTS NAMES)
    file(READ ${FOLDER}/${name} content)
    if(name MATCHES "[.](html|js|css)$")
        string(REGEX REPLACE "\n +" "\n" content "${content}")
    endif()
    if(name MATCHES "[.](js|css)$")
        string(REGEX REPLACE "\n// [^\n]*" "" content "${content}")
        string(REGEX REPLACE "([,;{]) // [^\n]*" "\\1" content "${content}")
        string(REGEX REPLACE "\n\n+" "\n" content "${content}")
    endif()
    string(HEX "${content}" bytes)
    string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(REPLACE . _ symbol ${name})
    string(APPEND text "extern const char ${LAYER}_${symbol}[];\nconst char ${LAYER}_${symbol}[] = {\n${bytes}0};\n")
endforeach()
file(WRITE ${OUT} "${text}")
