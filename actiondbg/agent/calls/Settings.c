#include "Calls.h"

#include <dlfcn.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/stat.h>

struct Settings settings;

// Copies of the environment's texts, and the setup file, which is writable
// memory: its fields are ended by zeros in place.
static char globText[1024];
static char eventsText[4096];
static char empty[1];
static char *setup = empty;

static const char *copyVariable(const char *name, char *text, size_t size) {
  const char *value = getenv(name);
  if (!value || strlen(value) >= size)
    return NULL;
  strcpy(text, value);
  return text;
}

/// Maps the file beside this library that lists the events of the machine.
static void mapSetup(void) {
  Dl_info self;
  char path[MaxPath];
  if (!dladdr(&settings, &self) || !self.dli_fname ||
      strlen(self.dli_fname) + sizeof ".setup" > sizeof path)
    return;
  strcpy(path, self.dli_fname);
  char *suffix = strrchr(path, '.');
  if (!suffix)
    return;
  strcpy(suffix, ".setup");
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return;
  struct stat status;
  if (fstat(file, &status) == 0 && status.st_size > 0) {
    // One byte more, so that the text ends with a zero.
    void *memory =
        mmap(NULL, (size_t)status.st_size + 1, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED &&
        read(file, memory, (size_t)status.st_size) == status.st_size)
      setup = memory;
  }
  close(file);
}

/// Returns the next line of the setup and its fields; NULL at the end.
static char *nextLine(char *line, char *fields[4]) {
  if (!*line)
    return NULL;
  char *end = line + strcspn(line, "\n");
  char *next = *end ? end + 1 : end;
  *end = 0;
  for (int i = 0; i < 4; ++i) {
    fields[i] = line;
    line += strcspn(line, "\t");
    if (*line)
      *line++ = 0;
  }
  return next;
}

/// Finds an event of the setup.
static bool findEvent(const char *name, const char *lines, const char *end,
                      struct Event *event) {
  for (const char *line = lines; line < end;) {
    // A field is followed by the zero that ended it.
    const char *kind = line, *known = kind + strlen(kind) + 1;
    const char *type = known + strlen(known) + 1;
    const char *config = type + strlen(type) + 1;
    line = config + strlen(config) + 1;
    if ((strcmp(kind, "event") && strcmp(kind, "alias")) || strcmp(known, name))
      continue;
    event->type = (uint32_t)strtoul(type, NULL, 0);
    event->config = strtoull(config, NULL, 0);
    return true;
  }
  return false;
}

/// Adds the event with a name of the setup, or a raw event rNNN; a final ":u"
/// excludes the kernel.
static void addNamed(char *name, const char *lines, const char *end) {
  struct Event event = {.name = name};
  char *suffix = strrchr(name, ':'), *rest = name;
  event.userOnly = suffix && !strcmp(suffix, ":u");
  if (event.userOnly)
    *suffix = 0;
  bool known = findEvent(name, lines, end, &event);
  if (!known && *name == 'r' && name[1]) {
    event.type = PERF_TYPE_RAW;
    event.config = strtoull(name + 1, &rest, 16);
    known = !*rest;
  }
  if (event.userOnly)
    *suffix = ':';
  if (known && settings.eventCount < MaxEvents)
    settings.events[settings.eventCount++] = event;
  else if (!known && !settings.unknownEvent)
    settings.unknownEvent = name;
}

/// Reads the setup, and the events of IREE_HOOK_PERF_EVENT_TYPES.
static void readStandalone(void) {
  settings.standalone = true;
  settings.glob =
      copyVariable("IREE_HOOK_FILTER_NAME", globText, sizeof globText);
  mapSetup();
  bool list = getenv("IREE_HOOK_LIST_EVENT_TYPES") != NULL;
  char *fields[4], *line = setup, *next;
  for (; (next = nextLine(line, fields)); line = next) {
    if (!strcmp(fields[0], "python"))
      settings.python = fields[1];
    else if (!strcmp(fields[0], "root"))
      settings.root = fields[1];
    else if (list && !strcmp(fields[0], "event"))
      fprintf(stderr, "%s\n", fields[1]);
  }
  if (list) {
    fflush(stderr);
    _exit(0);
  }
  if (!copyVariable("IREE_HOOK_PERF_EVENT_TYPES", eventsText,
                    sizeof eventsText))
    return;
  char *names = eventsText, *name;
  while ((name = strsep(&names, ",")))
    if (*name)
      addNamed(name, setup, line);
}

/// Parses "NAME=TYPE:CONFIG" or "NAME=TYPE:CONFIG:u".
static bool parseEvent(char *text, struct Event *event) {
  char *equals = strrchr(text, '='), *end;
  if (!equals)
    return false;
  *equals = 0;
  event->name = text;
  event->type = (uint32_t)strtoul(equals + 1, &end, 10);
  if (*end != ':')
    return false;
  event->config = strtoull(end + 1, &end, 10);
  event->userOnly = !strcmp(end, ":u");
  return event->userOnly || !*end;
}

void readSettings(void) {
  if (!copyVariable("ACTIONDBG_CALLS_DIRECTORY", settings.directory,
                    sizeof settings.directory) ||
      !*settings.directory) {
    readStandalone();
    return;
  }
  settings.glob =
      copyVariable("ACTIONDBG_CALLS_NAME", globText, sizeof globText);
  if (!copyVariable("ACTIONDBG_CALLS_EVENTS", eventsText, sizeof eventsText))
    return;
  char *rest = eventsText, *one;
  while ((one = strsep(&rest, ",")) && settings.eventCount < MaxEvents)
    if (parseEvent(one, &settings.events[settings.eventCount]))
      ++settings.eventCount;
}
