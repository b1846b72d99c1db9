# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# cmake -D OUT=FILE.c -D FOLDER=... -D NAMES=page.html;... -P embed.cmake
# Writes a C file with the bytes of each file, a zero behind them, as `const char report_page_html[]`. They lose their
# indentation, and scripts their comments but for the licence, and blanks around operators: a text in them has no operator
# between blanks.
set(text "/* Made from src/report/page by cmake/embed.cmake. */\n")
foreach(name IN LISTS NAMES)
    file(READ ${FOLDER}/${name} content)
    string(REGEX REPLACE "\n +" "\n" content "${content}")
    if(name MATCHES "[.](js|css)$")
        string(REGEX REPLACE "\n// [^\n]*" "" content "${content}")
        string(REGEX REPLACE "([,;{]) // [^\n]*" "\\1" content "${content}")
        string(REGEX REPLACE "\n\n+" "\n" content "${content}")
        string(REGEX REPLACE " (=>|=|===|!==|&&|[|][|]|[+]|>=|<=) " "\\1" content "${content}")
    endif()
    if(name MATCHES "[.]css$")
        string(REGEX REPLACE "([:;{,]) +" "\\1" content "${content}")
    endif()
    string(HEX "${content}" bytes)
    string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(REPLACE . _ symbol ${name})
    string(APPEND text "extern const char report_${symbol}[];\nconst char report_${symbol}[] = {\n${bytes}0};\n")
endforeach()
file(WRITE ${OUT} "${text}")
