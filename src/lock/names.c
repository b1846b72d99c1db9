/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "lock/names.h"

#include <string.h>

static const char marker[] = "lock-";
static const char reader_marker[] = "__READ__";
static const char writer_marker[] = "__WRIT__";
static const char lease_marker[] = "lease-";
static const char key_last[] = "2147483647";

enum { MARK_SIZE = sizeof reader_marker - 1 }; /* writer_marker is as long */

static const char latch_marker[] = "latch-";

void lock_names_uuid(char out[LOCK_UUID_SIZE], const uint8_t id[16])
{
    static const char hex[] = "0123456789abcdef";
    size_t at = 0;
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            out[at++] = '-';
        out[at++] = hex[id[i] >> 4];
        out[at++] = hex[id[i] & 15];
    }
}

static const char *marker_of(enum lock_role role)
{
    switch (role) {
    case LOCK_ROLE_READER:
        return reader_marker;
    case LOCK_ROLE_WRITER:
        return writer_marker;
    case LOCK_ROLE_LEASE:
        return lease_marker;
    case LOCK_ROLE_LATCH:
        return latch_marker;
    case LOCK_ROLE_MUTEX:
    default:
        return marker;
    }
}

size_t lock_names_prefix(enum lock_role role, char out[LOCK_PREFIX_SIZE_MAX + 1], const uint8_t id[16])
{
    size_t mark_size = strlen(marker_of(role));
    strcpy(out, "_c_");
    lock_names_uuid(out + 3, id);
    out[3 + LOCK_UUID_SIZE] = '-';
    memcpy(out + 4 + LOCK_UUID_SIZE, marker_of(role), mark_size + 1);
    return 4 + LOCK_UUID_SIZE + mark_size;
}

size_t lock_names_size(enum lock_role role)
{
    return 4 + LOCK_UUID_SIZE + strlen(marker_of(role)) + 1 + LOCK_KEY_SIZE;
}

size_t lock_names_sequence(char out[12], int32_t sequence)
{
    uint32_t rest = sequence < 0 ? 0u - (uint32_t)sequence : (uint32_t)sequence;
    char digits[LOCK_KEY_SIZE];
    for (int i = LOCK_KEY_SIZE - 1; i >= 0; i--) {
        digits[i] = (char)('0' + rest % 10);
        rest /= 10;
    }
    size_t at = 0;
    if (sequence < 0)
        out[at++] = '-';
    /* As in %010d, the sign counts as one of the ten columns unless the number has ten digits. */
    size_t skip = sequence < 0 && digits[0] == '0' ? 1 : 0;
    memcpy(out + at, digits + skip, LOCK_KEY_SIZE - skip);
    at += LOCK_KEY_SIZE - skip;
    out[at] = 0;
    return at;
}

/* Returns the key of a name that ends with "lock-" and ten bytes without an 'l', else NULL. It does not
 * search the whole name. */
static const char *usual_key(const char *name)
{
    enum { MARK = sizeof marker - 1 };
    size_t size = strlen(name);
    const char *key = name + size - LOCK_KEY_SIZE;
    if (size < MARK + LOCK_KEY_SIZE || memcmp(key - MARK, marker, MARK) != 0)
        return NULL;
    return memchr(key, marker[0], LOCK_KEY_SIZE) ? NULL : key;
}

bool lock_names_is_writer(const char *name)
{
    return strstr(name, writer_marker);
}

static bool is_mark(const char *at)
{
    return !strncmp(at, reader_marker, MARK_SIZE) || !strncmp(at, writer_marker, MARK_SIZE);
}

static const char *read_write_key(const char *name)
{
    const char *key = name;
    for (const char *at = strstr(name, "__"); at; at = strstr(at + 1, "__"))
        if (is_mark(at))
            key = at + MARK_SIZE;
    return key;
}

static const char *key_behind(const char *mark, const char *name)
{
    const char *key = name;
    for (const char *at = strstr(name, mark); at; at = strstr(at + 1, mark))
        key = at + strlen(mark);
    return key;
}

static const char *key_of(enum lock_role role, const char *name)
{
    if (lock_names_is_read_write(role))
        return read_write_key(name);
    const char *key = role == LOCK_ROLE_MUTEX ? usual_key(name) : NULL;
    return key ? key : key_behind(marker_of(role), name);
}

static size_t count_digits(const char *text)
{
    size_t count = 0;
    while (text[count] >= '0' && text[count] <= '9')
        count++;
    return count;
}

/* Returns whether a name ends with ten digits, as names of sequential nodes do. */
static bool ends_with_sequence(const char *name)
{
    size_t size = strlen(name);
    return size >= LOCK_KEY_SIZE && count_digits(name + size - LOCK_KEY_SIZE) == LOCK_KEY_SIZE;
}

enum lock_key lock_names_key(enum lock_role role, const char *name, const char **key)
{
    *key = key_of(role, name);
    size_t digits = count_digits(*key);
    if (digits == LOCK_KEY_SIZE && !(*key)[digits])
        return LOCK_KEY_CONTENDER;
    if ((*key)[0] == '-') {
        digits = count_digits(*key + 1);
        if ((digits == LOCK_KEY_SIZE || digits == LOCK_KEY_SIZE - 1) && !(*key)[digits + 1])
            return LOCK_KEY_NEGATIVE;
    }
    if ((unsigned char)(*key)[0] <= '9')
        return LOCK_KEY_BEFORE;
    return ends_with_sequence(*key) ? LOCK_KEY_KIND : LOCK_KEY_AFTER;
}

bool lock_names_parse(enum lock_role role, const char *path, int32_t *sequence)
{
    const char *slash = strrchr(path, '/');
    const char *key;
    enum lock_key kind = lock_names_key(role, slash ? slash + 1 : path, &key);
    if (kind != LOCK_KEY_CONTENDER && kind != LOCK_KEY_NEGATIVE)
        return false;
    int64_t number = 0;
    for (const char *at = kind == LOCK_KEY_NEGATIVE ? key + 1 : key; *at; at++)
        number = number * 10 + (*at - '0');
    if (kind == LOCK_KEY_NEGATIVE)
        number = -number;
    if (number > INT32_MAX || number < INT32_MIN)
        return false;
    *sequence = (int32_t)number;
    return true;
}

static int compare_contenders(enum lock_role role, const char *key_a, const char *a, const char *key_b,
                              const char *b)
{
    int order = memcmp(key_a, key_b, LOCK_KEY_SIZE);
    if (!order && lock_names_is_read_write(role))
        order = lock_names_is_writer(b) - lock_names_is_writer(a);
    return order ? order : strcmp(a, b);
}

const char *lock_names_find(const struct String_vector *list, const char *prefix)
{
    size_t size = strlen(prefix);
    for (int i = 0; i < list->count; i++)
        if (!strncmp(list->data[i], prefix, size))
            return list->data[i];
    return NULL;
}

static bool waits_for(enum lock_role role, const char *name)
{
    return role != LOCK_ROLE_READER || lock_names_is_writer(name);
}

void lock_names_view(enum lock_role role, const struct String_vector *list, const char *prefix,
                     struct lock_view *view)
{
    memset(view, 0, sizeof *view);
    const char *own = lock_names_find(list, prefix);
    const char *own_key = NULL;
    const char *ahead_key = NULL;
    view->own = own && lock_names_parse(role, own, &view->sequence);
    bool ranked = view->own && lock_names_key(role, own, &own_key) == LOCK_KEY_CONTENDER;
    for (int i = 0; i < list->count; i++) {
        const char *name = list->data[i];
        const char *key;
        if (name == own)
            continue;
        enum lock_key kind = lock_names_key(role, name, &key);
        /* as Curator, which counts each child as a lease, whatever its name */
        if (role == LOCK_ROLE_LEASE && ranked)
            view->before +=
                kind != LOCK_KEY_CONTENDER || compare_contenders(role, key, name, own_key, own) < 0;
        switch (kind) {
        case LOCK_KEY_NEGATIVE:
            view->negative = true;
            break;
        case LOCK_KEY_BEFORE:
        case LOCK_KEY_KIND:
            view->foreign = true;
            break;
        case LOCK_KEY_AFTER:
            view->foreign = view->foreign || role == LOCK_ROLE_LEASE;
            break;
        case LOCK_KEY_CONTENDER:
            view->last = view->last || !memcmp(key, key_last, LOCK_KEY_SIZE);
            if (!ranked || !waits_for(role, name) || compare_contenders(role, key, name, own_key, own) > 0)
                break;
            if (!ahead_key || compare_contenders(role, key, name, ahead_key, view->ahead) > 0) {
                view->ahead = name;
                ahead_key = key;
            }
            break;
        }
    }
}

static bool is_ordinary(enum lock_role role, const char *name)
{
    const char *key;
    return lock_names_key(role, name, &key) == LOCK_KEY_CONTENDER &&
           memcmp(key, key_last, LOCK_KEY_SIZE) != 0;
}

/* Returns the role of the contender with this name, which stands in one line with `role`. */
static enum lock_role role_of(enum lock_role role, const char *name)
{
    if (!lock_names_is_read_write(role))
        return role;
    return lock_names_is_writer(name) ? LOCK_ROLE_WRITER : LOCK_ROLE_READER;
}

void lock_names_unread(enum lock_role role, const struct String_vector *list, const uint8_t id[16],
                       bool *unread)
{
    enum { MINE = 3 + LOCK_UUID_SIZE - 8 };
    char prefix[LOCK_PREFIX_SIZE_MAX + 1];
    lock_names_prefix(role, prefix, id);
    for (int i = 0; i < list->count; i++)
        unread[i] = is_ordinary(role, list->data[i]) && strncmp(list->data[i], prefix, MINE) != 0;
    for (int i = 0; i < list->count; i++) {
        struct lock_view view;
        if (strncmp(list->data[i], prefix, MINE) != 0)
            continue;
        lock_names_view(role_of(role, list->data[i]), list, list->data[i], &view);
        for (int other = 0; other < list->count; other++)
            unread[other] = unread[other] && list->data[other] != view.ahead;
    }
}

static bool is_before(enum lock_role role, const char *a, const char *b)
{
    return compare_contenders(role, key_of(role, a), a, key_of(role, b), b) < 0;
}

static void sift_down(enum lock_role role, char **heap, int count, int at)
{
    char *name = heap[at];
    for (int child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && is_before(role, heap[child], heap[child + 1]))
            child++;
        if (!is_before(role, name, heap[child]))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = name;
}

/* Sorts by heapsort. qsort() may allocate, and the environment's mutex is held. */
static void sort(enum lock_role role, char **names, int count)
{
    for (int at = count / 2 - 1; at >= 0; at--)
        sift_down(role, names, count, at);
    for (int last = count - 1; last > 0; last--) {
        char *name = names[last];
        names[last] = names[0];
        names[0] = name;
        sift_down(role, names, last, 0);
    }
}

int lock_names_sort(enum lock_role role, struct String_vector *list)
{
    int count = 0;
    for (int i = 0; i < list->count; i++) {
        const char *key;
        char *name = list->data[i];
        if (lock_names_key(role, name, &key) != LOCK_KEY_CONTENDER)
            continue;
        list->data[i] = list->data[count];
        list->data[count++] = name;
    }
    sort(role, list->data, count);
    return count;
}
