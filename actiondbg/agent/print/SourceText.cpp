//===- SourceText.cpp - The text that IR was parsed from ------------------===//

#include "print/SourceText.h"

#include "llvm/ADT/SmallVector.h"
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using llvm::StringRef;

namespace adbg {

static bool isSpace(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// Returns what a file holds, and leaves its position; empty if it is none.
static std::string contentOf(int fd) {
  struct stat status;
  if (fd < 0 || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
    return "";
  // Not mapped: a file that is cut meanwhile would end the tool.
  std::string content(status.st_size, '\0');
  size_t size = 0;
  while (size < content.size()) {
    ssize_t count = pread(fd, &content[size], content.size() - size, size);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      break;
    size += count;
  }
  content.resize(size);
  return content;
}

/// Whether a path is a word of the tool's command, or a part of one.
static bool isOfCommand(const std::string &path) {
  static const std::string *command = [] {
    auto *words = new std::string;
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    char part[4096];
    for (ssize_t size; fd >= 0 && (size = ::read(fd, part, sizeof(part))) > 0;)
      words->append(part, size);
    if (fd >= 0)
      close(fd);
    return words;
  }();
  return command->find(path) != std::string::npos;
}

const SourceText::File &SourceText::fileOf(mlir::StringAttr name) {
  std::unique_ptr<File> &file = files[name.getAsOpaquePointer()];
  if (!file) {
    file = std::make_unique<File>();
    read(*file, name.getValue().str());
  }
  return *file;
}

void SourceText::read(File &file, const std::string &path) {
  if (path == "<stdin>") {
    file.text = contentOf(STDIN_FILENO);
  } else if (!path.empty() && isOfCommand(path)) {
    // A device or a pipe is not read: its reader would miss what is read here.
    int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    file.text = contentOf(fd);
    if (fd >= 0)
      close(fd);
  }
  // Where the text gives operations locations in itself, these are not where
  // the operations stand.
  if (file.text.empty() || StringRef(file.text).contains("\"" + path + "\":"))
    return;
  file.lines.push_back(0);
  for (size_t at = 0; (at = file.text.find('\n', at)) != std::string::npos;)
    file.lines.push_back(++at);
}

std::optional<size_t> SourceText::offsetOf(const File &file,
                                           const FilePlace &place) {
  if (!place.line || !place.column || place.line > file.lines.size())
    return std::nullopt;
  size_t offset = file.lines[place.line - 1] + place.column - 1;
  if (offset >= file.text.size())
    return std::nullopt;
  return offset;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// Whether a text begins with the name of an operation: `"arith.addi"`,
/// `arith.addi`, or without a default dialect `addi`.
static bool beginsWith(StringRef text, StringRef name) {
  if (text.consume_front('"'))
    return text.consume_front(name) && text.starts_with('"');
  StringRef plain = name.substr(name.find('.') + 1);
  for (StringRef one : {name, plain}) {
    StringRef rest = text;
    if (rest.consume_front(one) && (rest.empty() || !isOfName(rest.front())))
      return true;
  }
  return false;
}

void SourceText::resultsAt(const FilePlace &place, StringRef name,
                           unsigned results,
                           llvm::function_ref<void(unsigned, StringRef)> see) {
  const File &file = fileOf(place.file);
  std::optional<size_t> offset = offsetOf(file, place);
  if (!offset ||
      !beginsWith({file.text.data() + *offset, file.text.size() - *offset},
                  name))
    return;
  // Backwards from there: `%a, %b:2 = `.
  size_t end = *offset;
  auto dropSpace = [&] {
    while (end && isSpace(file.text[end - 1]))
      --end;
  };
  auto drop = [&](char c) {
    dropSpace();
    bool isThere = end && file.text[end - 1] == c;
    end -= isThere;
    return isThere;
  };
  auto dropName = [&] {
    size_t last = end;
    while (end && isOfName(file.text[end - 1]))
      --end;
    return StringRef(file.text.data() + end, last - end);
  };
  llvm::SmallVector<std::pair<unsigned, StringRef>, 4> groups; // from the last
  unsigned first = results;
  if (!drop('='))
    return;
  do {
    dropSpace();
    StringRef word = dropName();
    unsigned size = 1;
    if (drop(':')) {
      if (word.getAsInteger(10, size))
        return;
      dropSpace();
      word = dropName();
    }
    if (word.empty() || !drop('%') || size > first)
      return;
    first -= size;
    groups.push_back({first, StringRef(word.data() - 1, word.size() + 1)});
  } while (drop(','));
  if (first == 0)
    for (auto &[number, value] : groups)
      see(number, value);
}

StringRef SourceText::valueAt(const FilePlace &place) {
  const File &file = fileOf(place.file);
  std::optional<size_t> offset = offsetOf(file, place);
  if (!offset || file.text[*offset] != '%')
    return {};
  size_t end = *offset + 1;
  while (end < file.text.size() && isOfName(file.text[end]))
    ++end;
  if (end == *offset + 1)
    return {};
  return {file.text.data() + *offset, end - *offset};
}

} // namespace adbg
