/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The names of the C library that a recipe may import. Most are functions whose results depend on their
 * arguments alone. The functions for memory and output are replaced by imports_redirect(). The others end a
 * failed process, serve compilers and headers (__errno_location), or are arguments (stderr). The list has the
 * allowed names, because no list of forbidden ones can be complete. */
#include "base/assert.h"
#include "base/text.h"
#include "coord/coordinator.h"
#include "plugin/plugin.h"
#include "sim/sandbox.h"

#include <dlfcn.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char ALLOWED[] =
    " memcpy memmove memset memcmp memchr memrchr memmem mempcpy bcmp"
    " strlen strnlen strcmp strncmp strcasecmp strncasecmp strchr strrchr strchrnul strstr strcpy strncpy "
    "stpcpy stpncpy"
    " strcat strncat strspn strcspn strpbrk strtok_r strsep"
    " strtol strtoll strtoul strtoull strtod strtoimax strtoumax atoi atol atoll"
    " __isoc23_strtol __isoc23_strtoll __isoc23_strtoul __isoc23_strtoull"
    " snprintf vsnprintf sprintf vsprintf sscanf vsscanf __isoc99_sscanf __isoc23_sscanf"
    " qsort bsearch abs labs llabs toupper tolower __ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc"
    " __errno_location abort __assert_fail __stack_chk_fail"
    " printf vprintf fprintf vfprintf puts fputs putc fputc putchar fwrite fflush perror stdout stderr"
    " malloc calloc realloc free strdup strndup ";

/* Functions that are not allowed and for which the refusal has a reason of its own. */
static const struct {
    const char *names;
    const char *instead;
} REFUSED[] = {
    {" time clock clock_gettime gettimeofday ftime times timespec_get ",
     "which reads the clock; a recipe has stamps and timers (ls_env_stamp, ls_env_timer_start)"},
    {" rand random srand srandom rand_r drand48 lrand48 getrandom getentropy arc4random ",
     "which is random; a recipe has ls_env_random and ls_env_unique_id"},
    {" sleep usleep nanosleep clock_nanosleep poll select epoll_wait pause ",
     "which waits; a recipe has timers (ls_env_timer_start)"},
    {" pthread_create thrd_create fork vfork clone system posix_spawn ",
     "which starts a thread or a process; a recipe runs in callbacks"},
    {" pthread_mutex_lock pthread_mutex_unlock pthread_cond_wait sem_wait mtx_lock ",
     "which is for threads; a recipe has ls_env_lock"},
    {" open openat fopen read write socket connect send recv mmap ",
     "which is a way out of the world; a recipe talks by zookeeper.h alone"},
    {" strtok strerror localtime gmtime asctime ctime setlocale ", "which keeps state of its own"},
};

/* Returns whether a list has a name. A damaged file may have an empty name, which no list has. */
static bool is_in(const char *list, const char *name)
{
    size_t size = strlen(name);
    LS_ASSERT(list[0] == ' ' && list[strlen(list) - 1] == ' ');
    for (const char *at = size > 0 ? strstr(list, name) : NULL; at != NULL; at = strstr(at + 1, name)) {
        if (at[-1] == ' ' && at[size] == ' ') {
            return true;
        }
    }
    return false;
}

/* Returns whether a name is a compiler's checked form of an allowed function, such as __memcpy_chk. */
static bool is_checked_form(const char *name)
{
    char plain[64];
    size_t size = strlen(name);
    if (size < 7 || size > sizeof plain || !text_begins(name, "__") || strcmp(name + size - 4, "_chk") != 0) {
        return false;
    }
    snprintf(plain, sizeof plain, "%.*s", (int)(size - 6), name + 2);
    LS_ASSERT(strlen(plain) == size - 6);
    return is_in(ALLOWED, plain);
}

/* Returns whether compilers and their tools call the function by themselves. */
static bool is_of_a_tool(const char *name)
{
    static const char *const PREFIXES[] = {"__asan_", "__ubsan_", "__tsan_", "__sanitizer_",
                                           "__gcov_", "__llvm_",  "__afl_",  "_Unwind_"};
    static const char NAMES[] = " __cxa_finalize __tls_get_addr __gmon_start__ _ITM_registerTMCloneTable"
                                " _ITM_deregisterTMCloneTable ";
    for (size_t i = 0; i < sizeof PREFIXES / sizeof PREFIXES[0]; i++) {
        if (text_begins(name, PREFIXES[i])) {
            return true;
        }
    }
    return is_in(NAMES, name);
}

static bool is_of_a_client(const char *name)
{
    const struct coordinator *coordinator;
    for (int i = 0; (coordinator = coordinator_at(i)) != NULL; i++) {
        LS_ASSERT(coordinator->symbols != NULL);
        for (int k = 0; coordinator->symbols[k] != NULL; k++) {
            if (fnmatch(coordinator->symbols[k], name, 0) == 0) {
                return true;
            }
        }
    }
    return false;
}

static bool refuse(const char *name, char why[PLUGIN_WHY_MAX])
{
    LS_ASSERT(!is_in(ALLOWED, name));
    for (size_t i = 0; i < sizeof REFUSED / sizeof REFUSED[0]; i++) {
        if (is_in(REFUSED[i].names, name)) {
            snprintf(why, PLUGIN_WHY_MAX, "it calls %s, %s", name, REFUSED[i].instead);
            return false;
        }
    }
    snprintf(why, PLUGIN_WHY_MAX,
             "it calls %s, and a recipe may call zookeeper.h, <lockstep/env.h> and what looks at its "
             "arguments alone",
             name);
    return false;
}

/* Refuses a function that dlsym() finds neither in this program nor in its libraries. Refuses a function with
 * an asynchronous twin, because it blocks. The twin's name has an "a" behind the first "_". */
static bool is_client_call_allowed(const char *name, char why[PLUGIN_WHY_MAX])
{
    char twin[64];
    size_t stem = strcspn(name, "_");
    snprintf(twin, sizeof twin, "%.*s_a%s", (int)stem, name, name[stem] != 0 ? name + stem + 1 : "");
    if (dlsym(RTLD_DEFAULT, twin) != NULL) {
        snprintf(why, PLUGIN_WHY_MAX,
                 "it calls %s, which waits for its answer; a recipe runs in callbacks and calls %s", name,
                 twin);
        return false;
    }
    if (dlsym(RTLD_DEFAULT, name) == NULL) {
        snprintf(why, PLUGIN_WHY_MAX, "it calls %s, which the simulated client does not have", name);
        return false;
    }
    return true;
}

bool imports_allowed(const struct object *object, char why[PLUGIN_WHY_MAX])
{
    const char *name;
    for (int i = 0; (name = object_import(object, i)) != NULL; i++) {
        if (text_begins(name, "ls_") || is_of_a_client(name)) {
            if (!is_client_call_allowed(name, why)) {
                return false;
            }
        } else if (!is_in(ALLOWED, name) && !is_checked_form(name) && !is_of_a_tool(name)) {
            return refuse(name, why);
        }
    }
    return true;
}

/* ---- memory ---- */

static void *take(size_t size)
{
    return size <= UINT32_MAX / 2 ? world_alloc(size) : NULL;
}

static void give_back(void *memory)
{
    if (memory != NULL) {
        world_free(memory);
    }
}

static void *take_zeroed(size_t count, size_t size)
{
    bool fits = size == 0 || count <= SIZE_MAX / size;
    void *memory = fits ? take(count * size) : NULL;
    return memory != NULL ? memset(memory, 0, count * size) : NULL;
}

static void *take_again(void *memory, size_t size)
{
    if (memory != NULL && size == 0) { /* glibc frees the block then */
        give_back(memory);
        return NULL;
    }
    void *fresh = take(size);
    if (fresh != NULL && memory != NULL) {
        size_t old = world_alloc_size(memory);
        memcpy(fresh, memory, old < size ? old : size);
        give_back(memory);
    }
    return fresh;
}

static char *copy_some(const char *text, size_t most)
{
    size_t size = strnlen(text, most);
    char *copy = take(size + 1);
    if (copy != NULL) {
        memcpy(copy, text, size);
        copy[size] = 0;
    }
    return copy;
}

static char *copy_all(const char *text)
{
    return copy_some(text, SIZE_MAX);
}

/* ---- output for inspection: to one place, whatever the file is ---- */

#define WRITTEN_MAX 8192 /* bytes of one call; the rest is cut off */

/* The results of these functions do not depend on whether the output is kept. */
static int write_list(FILE *file, const char *format, va_list args)
{
    static char text[WRITTEN_MAX];
    (void)file;
    int size = vsnprintf(text, sizeof text, format, args);
    if (size > 0) {
        world_put_output(text, (size_t)size < sizeof text ? (size_t)size : sizeof text - 1);
    }
    return size;
}

static int write_format(FILE *file, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int size = write_list(file, format, args);
    va_end(args);
    return size;
}

static int print_list(const char *format, va_list args)
{
    return write_list(stdout, format, args);
}

static int print_format(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int size = print_list(format, args);
    va_end(args);
    return size;
}

static int write_list_checked(FILE *file, int flag, const char *format, va_list args)
{
    (void)flag;
    return write_list(file, format, args);
}

static int write_format_checked(FILE *file, int flag, const char *format, ...)
{
    va_list args;
    (void)flag;
    va_start(args, format);
    int size = write_list(file, format, args);
    va_end(args);
    return size;
}

static int print_list_checked(int flag, const char *format, va_list args)
{
    (void)flag;
    return print_list(format, args);
}

static int print_format_checked(int flag, const char *format, ...)
{
    va_list args;
    (void)flag;
    va_start(args, format);
    int size = print_list(format, args);
    va_end(args);
    return size;
}

/* Copies at most WRITTEN_MAX bytes, even if the output is not kept: a read of forbidden memory must crash in
 * both cases. */
static void put_bytes(const void *bytes, size_t size)
{
    static char text[WRITTEN_MAX];
    size_t taken = size < sizeof text ? size : sizeof text;
    memcpy(text, bytes, taken);
    world_put_output(text, taken);
}

static int write_text(const char *text, FILE *file)
{
    (void)file;
    put_bytes(text, strlen(text));
    return 1;
}

static int print_line(const char *text)
{
    write_text(text, stdout);
    return write_text("\n", stdout);
}

static int write_character(int character, FILE *file)
{
    char byte = (char)character;
    (void)file;
    world_put_output(&byte, 1);
    return (unsigned char)byte;
}

static int print_character(int character)
{
    return write_character(character, stdout);
}

static size_t write_bytes(const void *bytes, size_t size, size_t count, FILE *file)
{
    (void)file;
    put_bytes(bytes, size > 0 && count > SIZE_MAX / size ? SIZE_MAX : size * count);
    return size > 0 ? count : 0;
}

static int write_error(const char *what)
{
    bool named = what != NULL && what[0] != 0;
    return write_format(stderr, "%s%s%s\n", named ? what : "", named ? ": " : "", strerror(errno));
}

static int flush_nothing(FILE *file)
{
    (void)file;
    return 0;
}

/* ---- replacing imported functions ---- */

static uintptr_t ours_for(const char *name)
{
    static const struct {
        const char *name;
        uintptr_t ours;
    } OURS[] = {
        {"malloc", (uintptr_t)take},
        {"calloc", (uintptr_t)take_zeroed},
        {"realloc", (uintptr_t)take_again},
        {"free", (uintptr_t)give_back},
        {"strdup", (uintptr_t)copy_all},
        {"strndup", (uintptr_t)copy_some},
        {"printf", (uintptr_t)print_format},
        {"vprintf", (uintptr_t)print_list},
        {"fprintf", (uintptr_t)write_format},
        {"vfprintf", (uintptr_t)write_list},
        {"__printf_chk", (uintptr_t)print_format_checked},
        {"__vprintf_chk", (uintptr_t)print_list_checked},
        {"__fprintf_chk", (uintptr_t)write_format_checked},
        {"__vfprintf_chk", (uintptr_t)write_list_checked},
        {"puts", (uintptr_t)print_line},
        {"fputs", (uintptr_t)write_text},
        {"putc", (uintptr_t)write_character},
        {"fputc", (uintptr_t)write_character},
        {"putchar", (uintptr_t)print_character},
        {"fwrite", (uintptr_t)write_bytes},
        {"fflush", (uintptr_t)flush_nothing},
        {"perror", (uintptr_t)write_error},
    };
    for (size_t i = 0; i < sizeof OURS / sizeof OURS[0]; i++) {
        if (strcmp(OURS[i].name, name) == 0) {
            LS_ASSERT(is_in(ALLOWED, name) || is_checked_form(name));
            return OURS[i].ours;
        }
    }
    return 0;
}

static void put(uintptr_t where, uintptr_t what)
{
    uintptr_t page = where & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
    size_t size = where + sizeof what - page;
    LS_ASSERT(page <= where && size <= (size_t)sysconf(_SC_PAGESIZE) + sizeof what);
    if (mprotect((void *)page, size, PROT_READ | PROT_WRITE) == 0) {
        memcpy((void *)where, &what, sizeof what);
    }
}

void imports_redirect(const struct object *object, uintptr_t base)
{
    uintptr_t offset;
    const char *name;
    for (int i = 0; object_slot(object, i, &offset, &name); i++) {
        uintptr_t ours = ours_for(name);
        if (ours != 0) {
            put(base + offset, ours);
        }
    }
}
