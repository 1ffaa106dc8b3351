#include "interpose/SuiteProcess.h"
#include "interpose/SeenPrograms.h"
#include "record/PatternSets.h"
#include "record/RecordFile.h"

namespace adbg {

/// The folder; empty if no suite is recorded.
static char suiteFolder[PATH_MAX];
/// What identifies this program in the suite: the number of the process and
/// the time of its start. A process may become another program by exec.
static char suiteKey[48];
/// The process that has the key; others are forks of it.
static pid_t suitePid = 0;

bool isOfSuite() { return *suiteFolder; }

namespace {
/// The text of a note, without an allocation.
class NoteText {
public:
  /// Adds a field, behind a separator. Control characters are escaped.
  void add(const char *from, size_t many) {
    put(separator);
    for (size_t i = 0; i < many; ++i)
      putEscaped(from[i]);
    text[size] = 0;
  }
  void add(const char *from) { add(from, strlen(from)); }
  /// Adds the target of a link.
  void addLink(const char *path) {
    char target[PATH_MAX];
    ssize_t many = readlink(path, target, sizeof(target));
    add(target, std::max<ssize_t>(many, 0));
  }
  /// Adds the words of the command line, as many as there is room for.
  void addCommand() {
    char words[4096];
    bool isWithin = false;
    int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t many;
    while (file >= 0 && room() > sizeof(words) * escaped &&
           (many = read(file, words, sizeof(words))) > 0)
      for (ssize_t i = 0; i < many; ++i) {
        if (!isWithin)
          put(separator);
        isWithin = words[i] != 0;
        if (isWithin)
          putEscaped(words[i]);
      }
    if (file >= 0)
      close(file);
    text[size] = 0;
  }
  const char *all() const { return text; }

private:
  static constexpr char separator = '\x1f';
  static constexpr size_t escaped = 4; // bytes of an escaped character
  size_t room() const { return sizeof(text) - size; }
  void put(char one) {
    if (room() > escaped)
      text[size++] = one;
  }
  void putEscaped(char one) {
    if (one == '\\' || static_cast<uint8_t>(one) < ' ')
      size += snprintf(text + size, room(), "\\x%02x", one);
    else
      put(one);
  }
  char text[128 * 1024];
  size_t size = 0;
};
} // namespace

/// Makes a key for this process, and notes it.
static void noteProgramOfSuite() {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  suitePid = getpid();
  snprintf(suiteKey, sizeof(suiteKey), "%d-%lld", suitePid,
           now.tv_sec * 1000000000ll + now.tv_nsec);
  char parent[16];
  snprintf(parent, sizeof(parent), "%d", getppid());
  // The test that runs, as pytest tells it.
  const char *test = getenv("PYTEST_CURRENT_TEST");
  NoteText note;
  note.add(suiteKey);
  note.add(parent);
  note.addLink("/proc/self/exe");
  note.addLink("/proc/self/cwd");
  note.addLink("/proc/self/fd/0");
  note.add(test ? test : "");
  note.addCommand();
  noteLine("process", note.all());
  // By its pipe the reader of the output is known, as of a line of a test.
  char output[sizeof(suiteKey) + 64];
  int size = snprintf(output, sizeof(output), "%s ", suiteKey);
  ssize_t many = readlink("/proc/self/fd/1", output + size, 63);
  output[size + std::max<ssize_t>(many, 0)] = 0;
  if (strstr(output, " pipe:"))
    noteLine("output ", output);
}

void noteSuiteProcess() {
  const char *given = getenv("ACTIONDBG_SUITE");
  if (!given || strlen(given) + 64 > sizeof(suiteFolder))
    return;
  strcpy(suiteFolder, given);
  noteProgramOfSuite();
}

void noteUnrecorded() { noteLine("unrecorded ", suiteKey); }

std::string claimSuiteRecording() {
  // A fork, such as a worker of multiprocessing, has the key of its parent.
  if (suitePid != getpid())
    noteProgramOfSuite();
  std::string full = std::string(suiteFolder) + "/full";
  if (access(full.c_str(), F_OK) == 0) {
    noteUnrecorded();
    return "";
  }
  RecordFile::stopAt(full, [] { noteLine("shortened ", suiteKey); });
  PatternSets::keepIn(std::string(suiteFolder) + "/patterns");
  return std::string(suiteFolder) + "/runs/" + suiteKey + ".adbrec";
}

} // namespace adbg
