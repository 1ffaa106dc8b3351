#include "print/InputNames.h"
#include "print/ValueKeys.h"
#include "support/OwnFiles.h"
#include "support/Traits.h"

#include <cctype>

namespace adbg {

static bool isSpace(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// What is larger is not the text of IR, but weights, or too much to keep.
static constexpr off_t mostBytes = off_t(1) << 30;

/// Returns the text that a file holds, and leaves its position; empty if it is
/// none, as that of bytecode or of weights, which have null characters.
static std::string contentOf(int fd) {
  struct stat status;
  if (fd < 0 || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_size > mostBytes)
    return "";
  char first[4096];
  ssize_t begin = pread(fd, first, sizeof(first), 0);
  if (begin <= 0 || StringRef(first, begin).contains('\0'))
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

/// The words of the tool's command, each with a null character behind it.
static const std::string &commandWords() {
  static const auto &words =
      *new std::string(readFile("/proc/self/cmdline").value_or(""));
  return words;
}

/// Returns the text of a file that a command names; empty if it is none.
static std::string contentOf(const std::string &path) {
  if (path == "-" || path == "<stdin>")
    return contentOf(STDIN_FILENO);
  // A device or a pipe is not read: its reader would miss what is read here.
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  std::string content = contentOf(fd);
  if (fd >= 0)
    close(fd);
  return content;
}

/// Returns the texts that the tool may have parsed, by its command.
static std::vector<std::string> inputTexts() {
  std::vector<std::string> texts;
  StringRef rest(commandWords());
  auto [program, words] = rest.split(StringRef("\0", 1));
  while (!words.empty()) {
    auto [word, others] = words.split(StringRef("\0", 1));
    words = others;
    if (std::string text = contentOf(word.str()); !text.empty())
      texts.push_back(std::move(text));
  }
  return texts;
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

/// Finds the results before `end`, where an operation begins: `%a, %b:2 = `.
/// Returns false, unless they are its `results`.
static bool resultsBefore(StringRef text, size_t end, unsigned results,
                          function_ref<void(unsigned, StringRef)> see) {
  auto dropSpace = [&] {
    while (end && isSpace(text[end - 1]))
      --end;
  };
  auto drop = [&](char c) {
    dropSpace();
    bool isThere = end && text[end - 1] == c;
    end -= isThere;
    return isThere;
  };
  auto dropName = [&] {
    size_t last = end;
    while (end && isOfName(text[end - 1]))
      --end;
    return text.slice(end, last);
  };
  std::vector<std::pair<unsigned, StringRef>> groups; // from the last
  unsigned first = results;
  if (!drop('='))
    return false;
  do {
    dropSpace();
    StringRef word = dropName();
    unsigned size = 1;
    if (drop(':')) {
      if (word.getAsInteger(10, size))
        return false;
      dropSpace();
      word = dropName();
    }
    if (word.empty() || !drop('%') || size > first)
      return false;
    first -= size;
    groups.push_back({first, StringRef(word.data() - 1, word.size() + 1)});
    // A comma before the first name may be the end of a comment.
  } while (first != 0 && drop(','));
  if (first != 0)
    return false;
  for (auto &[number, value] : groups)
    see(number, value);
  return true;
}

/// The text at the places of locations, in the tool's input files. An operation
/// that was parsed has its location behind its results, `%a, %b:2 = `; an
/// argument of a block has it at its name.
class SourceText {
public:
  /// Calls `see` with the number of the first result and the name of each group
  /// of an operation's results; not unless an operation of this name, with so
  /// many results, is at the place. Names live as long as this.
  void resultsAt(const FilePlace &place, StringRef name, unsigned results,
                 function_ref<void(unsigned, StringRef)> see) {
    const File &file = fileOf(place.file);
    std::optional<size_t> offset = offsetOf(file, place);
    if (!offset ||
        !beginsWith({file.text.data() + *offset, file.text.size() - *offset},
                    name))
      return;
    resultsBefore(file.text, *offset, results, see);
  }

  /// Returns the name at a place; empty if it is not that of a value.
  StringRef valueAt(const FilePlace &place) {
    const File &file = fileOf(place.file);
    std::optional<size_t> offset = offsetOf(file, place);
    if (!offset || file.text[*offset] != '%')
      return {};
    return nameAt(file, *offset);
  }

  /// Calls `see` with every name in the files that were read.
  void eachName(function_ref<void(StringRef)> see) const {
    for (const auto &[name, file] : files) {
      size_t at = file->lines.empty() ? std::string::npos : 0;
      while ((at = file->text.find('%', at)) != std::string::npos) {
        StringRef found = nameAt(*file, at++);
        if (!found.empty())
          see(found);
      }
    }
  }

private:
  struct File {
    std::string text;
    /// The offset of each line; empty if the text is not used.
    std::vector<size_t> lines;
  };

  const File &fileOf(StringAttr name) {
    std::unique_ptr<File> &file = files[name.getAsOpaquePointer()];
    if (!file) {
      file = std::make_unique<File>();
      read(*file, name.getValue().str());
    }
    return *file;
  }

  void read(File &file, const std::string &path) {
    if (path == "<stdin>" ||
        (!path.empty() && commandWords().find(path) != std::string::npos))
      file.text = contentOf(path);
    // Where the text gives operations locations in itself, these are not where
    // the operations stand.
    if (file.text.empty() || StringRef(file.text).contains("\"" + path + "\":"))
      return;
    file.lines.push_back(0);
    for (size_t at = 0; (at = file.text.find('\n', at)) != std::string::npos;)
      file.lines.push_back(++at);
  }

  /// Returns the name that begins with the `%` at an offset; empty for none.
  static StringRef nameAt(const File &file, size_t offset) {
    size_t end = offset + 1;
    while (end < file.text.size() && isOfName(file.text[end]))
      ++end;
    if (end == offset + 1)
      return {};
    return {file.text.data() + offset, end - offset};
  }

  static std::optional<size_t> offsetOf(const File &file,
                                        const FilePlace &place) {
    if (!place.line || !place.column || place.line > file.lines.size())
      return std::nullopt;
    size_t offset = file.lines[place.line - 1] + place.column - 1;
    if (offset >= file.text.size())
      return std::nullopt;
    return offset;
  }

  std::unordered_map<const void *, std::unique_ptr<File>> files;
};

//===----------------------------------------------------------------------===//
// Names by their order
//===----------------------------------------------------------------------===//

/// Returns the offsets in a text behind each `%a, %b:2 = `, if an operation may
/// begin there.
static std::vector<size_t> definitionsIn(StringRef text) {
  std::vector<size_t> found;
  bool isValue = false; // behind names of values
  for (size_t at = 0; at < text.size(); ++at) {
    char c = text[at];
    if (c == '"') { // a string
      for (++at; at < text.size() && text[at] != '"'; ++at)
        at += text[at] == '\\';
      isValue = false;
    } else if (c == '/' && text.substr(at).starts_with("//")) {
      at = std::min(text.find("\n", at), text.size());
    } else if (c == '%') {
      isValue = true;
    } else if (c == '=' && isValue) {
      size_t next = text.find_first_not_of(" \t\r\n", at + 1);
      if (next < text.size() && (isalpha(text[next]) || text[next] == '"'))
        found.push_back(next);
      isValue = false;
    } else if (!isOfName(c) && !isSpace(c) && c != ',' && c != ':') {
      isValue = false;
    }
  }
  return found;
}

namespace {
/// An operation with results.
struct Defining {
  StringRef name;
  unsigned results;
  /// Its block, and the one around that.
  const void *block, *outer;
  /// Whether its block may not be in the text, as the body of linalg.matmul.
  bool mayBeImplied;
};

/// The texts that the tool may have parsed, by its command. Operations are
/// found in them by their order, whatever their locations are.
class OrderedTexts {
public:
  /// Calls `see` with the index of an operation, the number of the first result
  /// and the name of each group of its results. `ops` are all operations with
  /// results of some IR, in the order in which they were parsed. Does nothing
  /// unless the next definitions in a text are theirs, by their names and the
  /// numbers of their results, all those of a block or none.
  void match(ArrayRef<Defining> ops,
             function_ref<void(size_t, unsigned, StringRef)> see) {
    if (!std::exchange(areRead, true))
      for (std::string &text : inputTexts()) {
        std::vector<size_t> definitions = definitionsIn(text);
        texts.push_back({std::move(text), std::move(definitions)});
      }
    // Returns how many definitions are those of `ops`; 0 if they do not match.
    auto walk = [&](const Text &one, auto visit) -> size_t {
      std::unordered_map<const void *, bool> isImplied; // by block
      size_t next = one.used;
      for (size_t i = 0; i < ops.size(); ++i) {
        const Defining &op = ops[i];
        auto each = [&](unsigned first, StringRef name) {
          visit(i, first, name);
        };
        auto isNext = [&] {
          return next < one.definitions.size() &&
                 beginsWith(StringRef(one.text).substr(one.definitions[next]),
                            op.name) &&
                 resultsBefore(one.text, one.definitions[next], op.results,
                               each);
        };
        auto outer = isImplied.find(op.outer);
        bool isInImplied = outer != isImplied.end() && outer->second;
        auto [block, isNew] = isImplied.insert({op.block, isInImplied});
        if (block->second)
          continue;
        if (isNext())
          ++next;
        else if (isNew && op.mayBeImplied)
          block->second = true;
        else
          return 0;
      }
      return next - one.used;
    };
    // What does not match once will not match later.
    std::vector<Text> before = std::move(texts);
    texts.clear();
    bool isMatched = false;
    for (Text &one : before) {
      if (isMatched || !walk(one, [](size_t, unsigned, StringRef) {}))
        continue;
      isMatched = true;
      one.used += walk(one, see);
      if (one.used < one.definitions.size())
        texts.push_back(std::move(one));
    }
  }

  /// Whether nothing more can be found.
  bool isOver() const { return areRead && texts.empty(); }

private:
  struct Text {
    std::string text;
    /// The offset behind the results of each definition.
    std::vector<size_t> definitions;
    /// How many of them belong to IR before: a file may be split.
    size_t used = 0;
  };
  /// Those that have definitions left.
  std::vector<Text> texts;
  bool areRead = false;
};
} // namespace

/// Those of the whole process.
static OrderedTexts &ordered() { return immortal<OrderedTexts>(); }

//===----------------------------------------------------------------------===//
// The names of values
//===----------------------------------------------------------------------===//

void InputNames::clear() {
  std::lock_guard<std::mutex> lock(mutex);
  roots.clear();
  entries.clear();
  names.clear();
  largest[0] = largest[1] = -1;
  ordered() = OrderedTexts();
  taken = 0;
  isOrdered = false;
}

void InputNames::add(Entry entry, StringRef name) {
  entry.name = names.size();
  names.append(name.data(), name.size());
  names.push_back('\0');
  entries.push_back(entry);
  number(name);
}

void InputNames::number(StringRef name) {
  StringRef digits = name.drop_front();
  bool isArgument = digits.consume_front("arg");
  int64_t number = 0;
  if (!digits.getAsInteger(10, number))
    largest[isArgument] = std::max(largest[isArgument], number);
}

void InputNames::reached(Operation *op) {
  op = rootOf(op);
  std::lock_guard<std::mutex> lock(mutex);
  if (!readsFiles || !roots.insert(ids.of(op)).second)
    return;
  readsFiles = facts::sourceNames.isSafe([&] { addFromSource(op, 1000); });
  if (!readsFiles)
    return;
  addFromSource(op, std::numeric_limits<size_t>::max());
  isOrdered = false;
}

void InputNames::addFromSource(Operation *root, size_t most) {
  SourceText source;
  std::vector<Operation *> defining;
  std::unordered_set<Operation *> named;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (most == 0)
      return WalkResult::interrupt();
    --most;
    if (unsigned results = op->getNumResults()) {
      defining.push_back(op);
      if (std::optional<FilePlace> place = asFilePlace(op->getLoc()))
        source.resultsAt(*place, op->getName().getStringRef(), results,
                         [&](unsigned first, StringRef name) {
                           addResult(op, first, name);
                           named.insert(op);
                         });
    }
    for (Region &region : op->getRegions())
      for (Block &block : region)
        addArguments(block, source);
    return WalkResult::advance();
  });
  // Not all are found where the text places operations elsewhere.
  source.eachName([&](StringRef name) { number(name); });
  if (most == 0 || named.size() == defining.size() || ordered().isOver())
    return;
  // Where the text gives operations locations in another one.
  std::vector<Defining> all;
  all.reserve(defining.size());
  for (Operation *op : defining) {
    Operation *parent = op->getParentOp();
    all.push_back({op->getName().getStringRef(), op->getNumResults(),
                   op->getBlock(), parent ? parent->getBlock() : nullptr,
                   parent && !isIsolated(parent)});
  }
  ordered().match(all, [&](size_t i, unsigned first, StringRef name) {
    if (!named.contains(defining[i]))
      addResult(defining[i], first, name);
  });
}

void InputNames::addResult(Operation *op, unsigned first, StringRef name) {
  Operation *parent = op->getParentOp();
  if (uint32_t id = ids.of(op))
    add({parent ? ids.of(scopeOf(parent)) : 0, id, first, 0, 0}, name);
}

void InputNames::addArguments(Block &block, SourceText &source) {
  BlockKeys &keys = BlockKeys::all();
  if (!block.getNumArguments())
    return;
  Operation *holder = block.getParentOp();
  if (!keys.numberOf(&block))
    keys.added(&block);
  for (BlockArgument argument : block.getArguments())
    if (std::optional<FilePlace> place = asFilePlace(argument.getLoc()))
      if (StringRef name = source.valueAt(*place); !name.empty())
        add({ids.of(scopeOf(holder)), ids.of(holder), argument.getArgNumber(),
             keys.numberOf(&block), 0},
            name);
}

void InputNames::order() {
  if (std::exchange(isOrdered, true))
    return;
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry &left, const Entry &right) {
                     return left.scope < right.scope;
                   });
  byValue.resize(entries.size());
  for (uint32_t i = 0; i < byValue.size(); ++i)
    byValue[i] = i;
  std::sort(byValue.begin(), byValue.end(), [&](uint32_t left, uint32_t right) {
    return keyOf(entries[left]) < keyOf(entries[right]);
  });
}

InputNames::Named InputNames::describe(const Entry &entry) const {
  std::string owner = entry.block ? "/" + std::to_string(entry.block)
                                  : std::to_string(entry.id);
  return {nameOf(entry), owner + "." + std::to_string(entry.index), entry.scope,
          entry.id};
}

std::string InputNames::takeNew() {
  std::lock_guard<std::mutex> lock(mutex);
  std::string text;
  if (std::exchange(taken, entries.size()) == entries.size())
    return text;
  order();
  raw_string_ostream os(text);
  os << "!" << largest[0] << " " << largest[1] << "\n";
  const Entry *before = nullptr;
  for (const Entry &entry : entries) {
    if (!before || before->scope != entry.scope)
      os << "@" << entry.scope << "\n";
    Named named = describe(entry);
    os << "." << named.key << " " << named.name << "\n";
    before = &entry;
  }
  return text;
}

void InputNames::inScope(uint32_t scope,
                         function_ref<void(const Named &)> see) {
  std::lock_guard<std::mutex> lock(mutex);
  order();
  auto at = std::lower_bound(
      entries.begin(), entries.end(), scope,
      [](const Entry &entry, uint32_t scope) { return entry.scope < scope; });
  for (; at != entries.end() && at->scope == scope; ++at)
    see(describe(*at));
}

std::optional<InputNames::Named> InputNames::of(uint32_t id, uint32_t block,
                                                uint32_t index) {
  std::lock_guard<std::mutex> lock(mutex);
  order();
  std::array<uint32_t, 3> key{block, block ? 0 : id, index};
  auto at = std::lower_bound(
      byValue.begin(), byValue.end(), key,
      [&](uint32_t one, const auto &key) { return keyOf(entries[one]) < key; });
  if (at == byValue.end() || keyOf(entries[*at]) != key)
    return std::nullopt;
  return describe(entries[*at]);
}

void InputNames::withName(StringRef name,
                          function_ref<void(const Named &)> see) {
  std::lock_guard<std::mutex> lock(mutex);
  order();
  for (const Entry &entry : entries)
    if (nameOf(entry) == name)
      see(describe(entry));
}

} // namespace adbg
