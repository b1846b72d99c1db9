/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "real/audit.h"

#include "base/assert.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void real_audit_init(struct real_audit *audit)
{
    memset(audit, 0, sizeof *audit);
}

void real_audit_close(struct real_audit *audit)
{
    free(audit->writes);
    memset(audit, 0, sizeof *audit);
}

/* ---- lines ---- */

static void enter(struct real_audit *audit, const struct real_line *line)
{
    LS_ASSERT(line->slot >= 0 && line->slot < REAL_WORKERS_MAX);
    for (int i = 0; i < REAL_WORKERS_MAX; i++)
        if (i != line->slot && audit->worker[i].inside)
            audit->overlaps++;
    audit->sections++;
    audit->worker[line->slot].inside = true;
    audit->worker[line->slot].token = line->token;
    if (line->token > audit->token_max)
        audit->token_max = line->token;
}

static int begin_write(struct real_audit *audit, const struct real_line *line)
{
    if (audit->write_count == audit->write_capacity) {
        uint32_t capacity = audit->write_capacity ? 2 * audit->write_capacity : 256;
        void *writes = realloc(audit->writes, capacity * sizeof *audit->writes);
        if (!writes)
            return -1;
        audit->writes = writes;
        audit->write_capacity = capacity;
    }
    LS_ASSERT(audit->write_count < audit->write_capacity);
    audit->writes[audit->write_count++] =
        (struct real_write){.id = line->id, .basis = line->basis, .value = line->value};
    return 0;
}

/* Notes that a write was acknowledged. Searches backwards, because the write was begun a short time ago. */
static int acknowledge(struct real_audit *audit, const struct real_line *line)
{
    uint32_t i = audit->write_count;
    while (i && audit->writes[i - 1].id != line->id)
        i--;
    if (!i) {
        errno = EBADMSG;
        return -1;
    }
    audit->writes[i - 1].wrote = true;
    audit->worker[line->slot].wrote++;
    audit->wrote++;
    return 0;
}

static void leave(struct real_audit *audit, const struct real_line *line)
{
    audit->worker[line->slot].inside = false;
    if (line->kind == REAL_LEAVE && audit->late_ms && line->value >= audit->late_ms)
        audit->late++;
}

int real_audit_take(struct real_audit *audit, const struct real_line *line)
{
    if (line->slot < 0 || line->slot >= REAL_WORKERS_MAX) {
        errno = EBADMSG;
        return -1;
    }
    switch (line->kind) {
    case REAL_ENTER:
        enter(audit, line);
        break;
    case REAL_WRITES:
        return begin_write(audit, line);
    case REAL_WROTE:
        return acknowledge(audit, line);
    case REAL_REFUSED:
        audit->refused++;
        break;
    case REAL_DOUBTED:
        audit->doubted++;
        break;
    case REAL_LEAVE:
    case REAL_KILLED:
    case REAL_ENDED:
        leave(audit, line);
        break;
    default: /* the audit does not need the other kinds */
        break;
    }
    return 0;
}

/* ---- the end ---- */

static int by_id(const void *a, const void *b)
{
    uint64_t left = ((const struct real_write *)a)->id, right = ((const struct real_write *)b)->id;
    return (left > right) - (left < right);
}

static struct real_write *find(const struct real_audit *audit, uint64_t id)
{
    struct real_write key = {.id = id};
    return audit->write_count ? bsearch(&key, audit->writes, audit->write_count, sizeof *audit->writes, by_id)
                              : NULL;
}

/* Marks the chain of writes from the counter back to the first write. Returns whether the chain is whole and
 * each value is one more than that of the write before. */
static bool mark_chain(struct real_audit *audit, const struct real_record *counter)
{
    int64_t value = counter->value;
    for (uint64_t id = counter->writer; id; value--) {
        struct real_write *write = find(audit, id);
        if (!write || write->on_chain || write->value != value)
            return false;
        write->on_chain = true;
        id = write->basis;
    }
    return value == 0;
}

void real_audit_settle(struct real_audit *audit, const struct real_record *counter)
{
    LS_ASSERT(!audit->settled && audit->lost == 0 && audit->unheard == 0);
    if (audit->write_count)
        qsort(audit->writes, audit->write_count, sizeof *audit->writes, by_id);
    audit->sound = mark_chain(audit, counter);
    audit->settled = true;
    for (uint32_t i = 0; i < audit->write_count; i++) {
        const struct real_write *write = &audit->writes[i];
        audit->lost += write->wrote && !write->on_chain;
        audit->unheard += !write->wrote && write->on_chain;
    }
    LS_ASSERT(audit->lost <= audit->wrote && audit->lost + audit->unheard <= audit->write_count);
}
