/* What every C program of tests/clients shares: its orders and its report.
   The lines it writes are described in harness/session.py. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kCallers = 16 };

static char failure[600];

static int server_port(void) { return atoi(getenv("CLIENTS_PORT")); }
static bool is_weir(void) { return strcmp(getenv("CLIENTS_SERVER"), "weir") == 0; }
static bool is_durable(void) { return strcmp(getenv("CLIENTS_DURABLE"), "1") == 0; }

static void say(const char* line) {
  puts(line);
  fflush(stdout);
}

/* The first thing that did not hold in a check is what is reported of it. */
static bool expect(bool holds, const char* format, ...) {
  if (!holds && failure[0] == '\0') {
    va_list values;
    va_start(values, format);
    vsnprintf(failure, sizeof failure, format, values);
    va_end(values);
  }
  return holds;
}

static void check(const char* name, void (*body)(void)) {
  failure[0] = '\0';
  body();
  if (strncmp(failure, "skip ", 5) == 0) {
    printf("skip %s: %s\n", name, failure + 5);
  } else if (failure[0] != '\0') {
    printf("not ok %s: %s\n", name, failure);
  } else {
    printf("ok %s\n", name);
  }
  fflush(stdout);
}

/* Has the server killed and started again; returns when it answers. */
static void restart_server(void) {
  char line[64];
  say("restart");
  if (!fgets(line, sizeof line, stdin)) {
    say("the server did not come back");
    exit(1);
  }
}
