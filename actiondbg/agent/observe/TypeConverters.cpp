//===- TypeConverters.cpp - The type converters of patterns ---------------===//
//
// A pattern does not say whether it is a conversion pattern. Source of its
// layout: ConversionPattern in mlir/Transforms/DialectConversion.h.
//
//===----------------------------------------------------------------------===//

#include "observe/TypeConverters.h"
#include "observe/PatternNames.h"
#include "support/Symbols.h"

#include "mlir/Transforms/DialectConversion.h"
#include <sys/uio.h>
#include <unistd.h>

using namespace mlir;
using llvm::StringRef;

namespace adbg {

/// Reads a word that may not be mapped; null if it is not.
static const void *wordAt(const void *address) {
  const void *word = nullptr;
  struct iovec target{static_cast<void *>(&word), sizeof(word)};
  struct iovec source{const_cast<void *>(address), sizeof(word)};
  ssize_t size = process_vm_readv(getpid(), &target, 1, &source, 1, 0);
  return size == sizeof(word) ? word : nullptr;
}

static std::string classAt(const void *vtable) {
  Place place = Place::of(vtable);
  if (!place.isKnown() || place.isCode)
    return "";
  return classOf(static_cast<const void *const *>(vtable));
}

std::string nameOf(const TypeConverter &converter) {
  std::string name = classAt(wordAt(&converter));
  return name == "mlir::TypeConverter" ? "" : name;
}

const TypeConverter *converterOf(const Pattern &pattern) {
  if (!UnnamedPattern(pattern).vtable)
    return nullptr; // of PDL
  // The first member of ConversionPattern; something else in another class.
  const char *end = reinterpret_cast<const char *>(
                        static_cast<const RewritePattern *>(&pattern)) +
                    sizeof(RewritePattern);
  const void *member = wordAt(end);
  if (!member || !StringRef(classAt(wordAt(member))).ends_with("Converter"))
    return nullptr;
  return static_cast<const TypeConverter *>(member);
}

} // namespace adbg
