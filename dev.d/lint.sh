# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

help_lint()
{
    cat <<'TEXT'
usage: ./dev lint [FILE...]

Fails if clang-format would change a file, if clang-tidy finds something (.clang-tidy says what), if a shell script does not
parse, or if dev.d/plain finds more in a folder's prose than dev.d/plain.tsv allows.

examples:
  ./dev lint                      everything
  ./dev lint src/lock/mutex.c     one file
TEXT
}

cmd_lint()
{
    local failed=0
    source dev.d/setup.sh
    source dev.d/build.sh
    setup_groups run test full
    if (($# == 0)); then
        mapfile -t files < <(c_files)
        set -- "${files[@]}"
        step "shell syntax" lint_shell || failed=1
        step "prose" dev.d/plain --ceilings || failed=1
    fi
    step "clang-format" clang-format --dry-run -Werror "$@" || failed=1
    configure_preset release-clang ON
    # The list of sources is as old as the last configuration: a new file would not be looked at.
    step "compilation database" cmake --log-level=ERROR build/release-clang >/dev/null || failed=1
    step "clang-tidy" lint_tidy "$@" || failed=1
    return $failed
}

lint_shell()
{
    local script failed=0
    for script in dev dev.d/*.sh dev.d/with_zookeeper dev.d/try_packages .ci/run $(find tests -name '*.sh'); do
        bash -O extglob -n "$script" || failed=1
    done
    return $failed
}

# A source that belongs to many targets is looked at once for each set of macros; the one that names the target does not count.
lint_database()
{
    mkdir -p build/lint
    python3 - build/release-clang/compile_commands.json >build/lint/compile_commands.json <<'PYTHON'
import json, shlex, sys
seen = {}
for entry in json.load(open(sys.argv[1])):
    macros = (word for word in shlex.split(entry["command"]) if word.startswith("-D") and not word.endswith("_EXPORTS"))
    seen.setdefault((entry["file"], *sorted(macros)), entry)
json.dump(list(seen.values()), sys.stdout)
PYTHON
}

lint_tidy()
{
    local file sources=()
    for file in "$@"; do
        # Headers are seen through the sources that include them.
        [[ $file == *.c ]] && grep -q "/$file\"" build/release-clang/compile_commands.json && sources+=("$file")
    done
    ((${#sources[@]} > 0)) || return 0
    lint_database
    printf '%s\0' "${sources[@]}" |
        xargs -0 -r -P "$(nproc)" -n 2 clang-tidy --quiet -p build/lint 2>build/lint.err || {
        grep -v 'warnings generated\|^Suppressed' build/lint.err >&2 || true
        return 1
    }
}
