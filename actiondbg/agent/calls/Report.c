#include "Report.h"
#include "ProcessLog.h"

#include <dirent.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MostVariables = 4096 };

/// Removes the folder of standalone counting.
static void removeDirectory(void) {
  DIR *directory = opendir(settings.directory);
  if (!directory)
    return;
  for (struct dirent *file; (file = readdir(directory));)
    if (*file->d_name != '.')
      unlinkat(dirfd(directory), file->d_name, 0);
  closedir(directory);
  rmdir(settings.directory);
}

/// Runs "actiondbg kernels count DIRECTORY", without this library.
static bool runReport(void) {
  static char *variables[MostVariables];
  static char path[2 * MaxPath];
  size_t count = 0;
  const char *found = getenv("PYTHONPATH");
  snprintf(path, sizeof path, "PYTHONPATH=%s%s%s", settings.root,
           found ? ":" : "", found ? found : "");
  for (char **one = environ; *one && count < MostVariables - 2; ++one)
    if (strncmp(*one, "LD_PRELOAD=", 11) && strncmp(*one, "PYTHONPATH=", 11))
      variables[count++] = *one;
  variables[count] = path;
  char *arguments[] = {(char *)settings.python,
                       "-m",
                       "actiondbg",
                       "kernels",
                       "count",
                       "--by-thread",
                       settings.directory,
                       NULL};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  // The program's standard output stays as it is.
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t child;
  int status = -1;
  bool started = posix_spawn(&child, settings.python, &actions, NULL, arguments,
                             variables) == 0;
  posix_spawn_file_actions_destroy(&actions);
  return started && waitpid(child, &status, 0) == child && status == 0;
}

void reportAtEnd(void) {
  if (problemError)
    fprintf(stderr,
            "actiondbg: Calls were not counted: '%s' cannot be written (%s).\n",
            problem, strerror(problemError));
  else if (*problem)
    fprintf(stderr, "actiondbg: Calls were not counted: %s.\n", problem);
  // A fork is reported by its parent.
  if (!image || !image->token || !ownsDirectory())
    return;
  if (settings.unknownEvent)
    fprintf(stderr,
            "actiondbg: There is no event '%s': IREE_HOOK_LIST_EVENT_TYPES=1 "
            "lists them.\n",
            settings.unknownEvent);
  if (!image->threads)
    removeDirectory();
  else if (settings.python && settings.root && runReport())
    removeDirectory();
  else
    fprintf(stderr,
            "actiondbg: 'actiondbg kernels count %s' prints the statistics.\n",
            settings.directory);
}
