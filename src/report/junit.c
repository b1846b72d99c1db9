/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "report/report.h"

#include <libxml/xmlerror.h>
#include <libxml/xmlwriter.h>
#include <string.h>

static int attribute(xmlTextWriterPtr writer, const char *name, const char *value)
{
    return xmlTextWriterWriteAttribute(writer, BAD_CAST name, BAD_CAST value);
}

/* CI servers show the class as a folder: dots for slashes. */
static void class_of(const char *path, char *out, size_t size)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    snprintf(out, size, "%.*s", (int)(length < size ? length : size - 1), path);
    for (char *at = out; *at; at++) {
        *at = *at == '/' ? '.' : *at;
    }
    if (!out[0]) {
        snprintf(out, size, "scenarios");
    }
}

/* The message is the first broken promise with what happened; without one, the verdict. The text has all, and the line to paste. */
static void write_problem(xmlTextWriterPtr writer, const char *program, const struct report_item *item)
{
    const struct outcome *outcome = item->outcome;
    const struct check_stats *stats = &outcome->stats;
    const char *trace = outcome->shrunk[0] ? outcome->shrunk : outcome->trace;
    int known;
    const struct property *const *all = check_all(&known);
    const char *element = outcome->verdict == VERDICT_LIMIT   ? "skipped"
                          : outcome->verdict == VERDICT_ERROR ? "error"
                                                              : "failure";
    xmlTextWriterStartElement(writer, BAD_CAST element);
    int violated[CHECK_PROPERTIES_MAX], count = check_violated(stats, ~item->scenario->violates, violated);
    if (count > 0) {
        char message[CHECK_WHY_MAX + TRACE_WORD_MAX + 4];
        snprintf(message, sizeof message, "%s: %s", all[violated[0]]->name, stats->finding[violated[0]].why);
        attribute(writer, "message", message);
    } else {
        attribute(writer, "message", verdict_name(outcome->verdict));
    }
    if (outcome->verdict != VERDICT_LIMIT) {
        attribute(writer, "type", count > 0 ? all[violated[0]]->name : verdict_name(outcome->verdict));
    }
    for (int i = 0; i < count; i++) {
        xmlTextWriterWriteFormatString(writer, "%s: %s\n", all[violated[i]]->name,
                                       stats->finding[violated[i]].why);
    }
    xmlTextWriterWriteString(writer, BAD_CAST outcome->text);
    if (trace[0]) {
        xmlTextWriterWriteFormatString(writer, "again: %s replay %s\n", program, trace);
    }
    xmlTextWriterEndElement(writer);
}

static void write_case(xmlTextWriterPtr writer, const char *program, const struct report_item *item)
{
    char name[INPUT_NAME_MAX], seconds[32];
    const char *slash = strrchr(item->scenario->input.name, '/');
    class_of(item->scenario->input.name, name, sizeof name);
    snprintf(seconds, sizeof seconds, "%.3f", item->seconds);
    xmlTextWriterStartElement(writer, BAD_CAST "testcase");
    attribute(writer, "classname", name);
    attribute(writer, "name", slash ? slash + 1 : item->scenario->input.name);
    attribute(writer, "time", seconds);
    if (item->outcome->verdict != VERDICT_HOLDS) {
        write_problem(writer, program, item);
    }
    xmlTextWriterEndElement(writer);
}

static void write_count(xmlTextWriterPtr writer, const char *name, int count)
{
    xmlTextWriterWriteFormatAttribute(writer, BAD_CAST name, "%d", count);
}

/* libxml would complain on standard error in its own words. */
static void say_nothing(void *ctx, const char *format, ...)
{
    (void)ctx;
    (void)format;
}

int report_junit(const char *path, const char *program, const struct report_item *items, int count)
{
    int verdicts[VERDICT_ERROR + 1] = {0}, finished = 0;
    xmlSetGenericErrorFunc(NULL, say_nothing);
    xmlTextWriterPtr writer = xmlNewTextWriterFilename(path, 0);
    if (!writer) {
        return -1;
    }
    for (int i = 0; i < count; i++) {
        finished += items[i].finished;
        verdicts[items[i].outcome->verdict] += items[i].finished;
    }
    xmlTextWriterSetIndent(writer, 1);
    xmlTextWriterStartDocument(writer, "1.0", "UTF-8", NULL);
    xmlTextWriterStartElement(writer, BAD_CAST "testsuite");
    attribute(writer, "name", "lockstep");
    write_count(writer, "tests", finished);
    write_count(writer, "failures", verdicts[VERDICT_VIOLATED] + verdicts[VERDICT_DIFFERS]);
    write_count(writer, "errors", verdicts[VERDICT_ERROR]);
    write_count(writer, "skipped", verdicts[VERDICT_LIMIT]);
    for (int i = 0; i < count; i++) {
        if (items[i].finished) {
            write_case(writer, program, &items[i]);
        }
    }
    xmlTextWriterEndElement(writer);
    int result = xmlTextWriterEndDocument(writer);
    xmlFreeTextWriter(writer);
    xmlCleanupParser();
    return result < 0 ? -1 : 0;
}
