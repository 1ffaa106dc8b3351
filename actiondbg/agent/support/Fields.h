//===- Fields.h - The fields of a request, read strictly --------*- C++ -*-===//

#ifndef ACTIONDBG_FIELDS_H
#define ACTIONDBG_FIELDS_H

#include "llvm/Support/JSON.h"
#include <set>
#include <string>

namespace adbg {

/// Reads the fields of one JSON object. The first field that is missing,
/// unknown or of the wrong type is remembered, and named, in `error`.
class Fields {
public:
  explicit Fields(const llvm::json::Object &object, std::string where = "")
      : object(object), where(std::move(where)) {}

  std::string error;

  int64_t integer(llvm::StringRef key, int64_t least);
  int64_t integerOr(llvm::StringRef key, int64_t least, int64_t otherwise);
  bool boolean(llvm::StringRef key, bool otherwise);
  std::string text(llvm::StringRef key);
  std::string textOr(llvm::StringRef key, llvm::StringRef otherwise);
  /// Null, and no error, if the field is absent or null.
  const llvm::json::Value *optional(llvm::StringRef key);
  const llvm::json::Object *optionalObject(llvm::StringRef key);
  const llvm::json::Array *array(llvm::StringRef key);

  /// Returns whether all was well and no field was left unread.
  bool done();
  void fail(const llvm::Twine &message);
  std::string nameOf(llvm::StringRef key) const { return where + key.str(); }

private:
  const llvm::json::Value *get(llvm::StringRef key);
  void wrong(llvm::StringRef key, llvm::StringRef expected);

  const llvm::json::Object &object;
  std::string where;
  std::set<std::string> read;
};

} // namespace adbg

#endif // ACTIONDBG_FIELDS_H
