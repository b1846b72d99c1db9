/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "report/report.h"

#include "base/assert.h"

#include <libxml/xmlerror.h>
#include <libxml/xmlwriter.h>
#include <string.h>

static int attribute(xmlTextWriterPtr writer, const char *name, const char *value)
{
    return xmlTextWriterWriteAttribute(writer, BAD_CAST name, BAD_CAST value);
}

/* Writes the class of a scenario: its folder with dots for slashes; "scenarios" if it is in no folder. */
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

/* Writes why a scenario does not hold. The message is the first promise that the reported run violates, with
 * its sentence, or else the verdict. The text has all promises that this run violates, the text of the
 * outcome, and the command that replays the trace, if there is one. */
static void write_problem(xmlTextWriterPtr writer, const struct report_context *context,
                          const struct report_item *item)
{
    const struct outcome *outcome = item->outcome;
    LS_ASSERT(item->finished && outcome->verdict != VERDICT_HOLDS);
    const char *trace = report_trace(outcome), *verdict = verdict_name(outcome->verdict);
    const char *element = outcome->verdict == VERDICT_LIMIT   ? "skipped"
                          : outcome->verdict == VERDICT_ERROR ? "error"
                                                              : "failure";
    struct report_violation list[CHECK_PROPERTIES_MAX];
    int count = report_violations(item, list);
    bool broken = count > 0 && list[0].where == NULL;
    char message[CHECK_WHY_MAX + TRACE_WORD_MAX + 4];
    xmlTextWriterStartElement(writer, BAD_CAST element);
    if (broken) {
        snprintf(message, sizeof message, "%s: %s", list[0].property->name, list[0].finding->why);
    }
    attribute(writer, "message", broken ? message : verdict);
    if (outcome->verdict != VERDICT_LIMIT) {
        attribute(writer, "type", broken ? list[0].property->name : verdict);
    }
    for (int i = 0; i < count && list[i].where == NULL; i++) {
        xmlTextWriterWriteFormatString(writer, "%s: %s\n", list[i].property->name, list[i].finding->why);
    }
    xmlTextWriterWriteString(writer, BAD_CAST outcome->text);
    if (trace[0]) {
        xmlTextWriterWriteFormatString(writer, "again: %s replay %s\n", context->program, trace);
    }
    xmlTextWriterEndElement(writer);
}

static void write_case(xmlTextWriterPtr writer, const struct report_context *context,
                       const struct report_item *item)
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
        write_problem(writer, context, item);
    }
    xmlTextWriterEndElement(writer);
}

static void write_count(xmlTextWriterPtr writer, const char *name, int count)
{
    xmlTextWriterWriteFormatAttribute(writer, BAD_CAST name, "%d", count);
}

/* Keeps libxml from complaining on standard error in its own words. */
static void say_nothing(void *ctx, const char *format, ...)
{
    (void)ctx;
    (void)format;
}

int report_junit(const char *path, const struct report_context *context, const struct report_item *items,
                 int count)
{
    int verdicts[VERDICT_ERROR + 1] = {0}, finished = 0;
    xmlSetGenericErrorFunc(NULL, say_nothing);
    xmlTextWriterPtr writer = xmlNewTextWriterFilename(path, 0);
    if (!writer) {
        return -1;
    }
    for (int i = 0; i < count; i++) {
        LS_ASSERT((size_t)items[i].outcome->verdict < sizeof verdicts / sizeof verdicts[0]);
        finished += items[i].finished;
        verdicts[items[i].outcome->verdict] += items[i].finished;
    }
    LS_ASSERT(verdicts[VERDICT_HOLDS] + verdicts[VERDICT_VIOLATED] + verdicts[VERDICT_DIFFERS] +
                  verdicts[VERDICT_LIMIT] + verdicts[VERDICT_ERROR] ==
              finished);
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
            write_case(writer, context, &items[i]);
        }
    }
    xmlTextWriterEndElement(writer);
    int result = xmlTextWriterEndDocument(writer);
    xmlFreeTextWriter(writer);
    xmlCleanupParser();
    return result < 0 ? -1 : 0;
}
