/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The folder of --html: an index, and a page of each run that shows a failure. */
#ifndef CLI_HTML_H
#define CLI_HTML_H

#include "cli/cli.h"
#include "cli/small_worlds.h"
#include "report/report.h"

/* Writes the folder, and sets the page of each item that gets one. `worlds` may be NULL. Returns 0, or
 * CLI_ENVIRONMENT after a line on standard error. */
int cli_write_html(const struct cli_options *options, const char *command,
                   const struct report_context *context, struct report_item *items, int count,
                   const struct enumeration *worlds);

#endif
