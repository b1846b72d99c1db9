# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A man page for the program and for each of its commands, made by help2man from what --help says; and completion for bash and zsh.
include(GNUInstallDirs)
install(FILES completion/lockstep.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME lockstep
        COMPONENT program)
install(FILES completion/_lockstep DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT program)

find_program(HELP2MAN help2man)
if(NOT HELP2MAN)
    return()
endif()
set(pages "")
foreach(command "" run check replay debug report shrink explain export merge triage list new)
    if(command)
        set(name lockstep-${command})
        set(help "${command} --help")
        set(summary "the command ${command} of lockstep")
    else()
        set(name lockstep)
        set(help "--help")
        set(summary "tests lock recipes in a simulated world")
    endif()
    # help2man names a page after the program that it calls.
    set(page ${PROJECT_BINARY_DIR}/man/${name}.1)
    add_custom_command(
        OUTPUT ${page}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/man
        COMMAND ${CMAKE_COMMAND} -E create_symlink $<TARGET_FILE:lockstep> ${PROJECT_BINARY_DIR}/man/${name}
        COMMAND ${HELP2MAN} --no-info --section=1 --name=${summary} --source=lockstep --version-string=${PROJECT_VERSION}
                --help-option=${help} --output=${page} ${PROJECT_BINARY_DIR}/man/${name}
        DEPENDS lockstep
        COMMENT ""
        VERBATIM)
    list(APPEND pages ${page})
endforeach()
add_custom_target(man ALL DEPENDS ${pages})
install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
