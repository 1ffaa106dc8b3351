//===- stand_ins_crossing.cpp - Stand-ins in the hands of LLVM ------------===//
//
// Compiled with the agent's stand-ins for LLVM's headers, and run over a
// library of LLVM: its functions get objects of ours, as those of a tool do.
// Prints what they made of them.
//
//===----------------------------------------------------------------------===//

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdio>
#include <dlfcn.h>
#include <unistd.h>

using llvm::raw_ostream;
using llvm::StringRef;

static void *library;

/// A function of the library, by its mangled name.
template <typename Function> static Function *real(const char *name) {
  void *found = dlsym(library, name);
  if (!found)
    std::printf("no function %s\n", name);
  return reinterpret_cast<Function *>(found);
}

/// Writes to a stream of ours with functions of the library.
static void writeTo(raw_ostream &os) {
  auto *text = real<raw_ostream &(raw_ostream *, const char *, size_t)>(
      "_ZN4llvm11raw_ostream5writeEPKcm");
  auto *character = real<raw_ostream &(raw_ostream *, unsigned char)>(
      "_ZN4llvm11raw_ostream5writeEh");
  auto *natural = real<raw_ostream &(raw_ostream *, unsigned long)>(
      "_ZN4llvm11raw_ostreamlsEm");
  auto *number =
      real<raw_ostream &(raw_ostream *, double)>("_ZN4llvm11raw_ostreamlsEd");
  auto *spaces = real<raw_ostream &(raw_ostream *, unsigned)>(
      "_ZN4llvm11raw_ostream6indentEj");
  auto *escaped = real<raw_ostream &(raw_ostream *, StringRef, bool)>(
      "_ZN4llvm11raw_ostream13write_escapedENS_9StringRefEb");
  auto *colour = real<raw_ostream &(raw_ostream *, raw_ostream::Colors)>(
      "_ZN4llvm11raw_ostreamlsENS0_6ColorsE");
  for (int i = 0; i < 300; ++i) {
    natural(&text(&os, "text ", 5), i);
    spaces(&character(&os, ':'), i % 4);
    // Ours, in between.
    os << "own " << i << ' ';
    colour(&number(&os, 1.5), raw_ostream::Colors::RESET);
    escaped(&os, "\"quoted\"\n", false);
    os << '\n';
  }
  // More than a buffer holds.
  std::string large(10000, 'x');
  text(&os, large.data(), large.size());
  os << large << "\n";
}

int main(int, char **argv) {
  library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    std::printf("%s\n", dlerror());
    return 1;
  }
  std::string written;
  llvm::raw_string_ostream os(written);
  writeTo(os);
  std::printf("%s", written.c_str());
  // A file has a buffer, whose pointers the library moves.
  std::error_code error;
  llvm::raw_fd_ostream file(argv[2], error);
  writeTo(file);
  std::printf("position: %d\n", file.tell() == written.size());
  file.close();
  std::printf("error: %d %d\n", bool(error), file.has_error());

  // The library appends to a vector of ours, out of its inner elements.
  llvm::SmallVector<StringRef, 2> parts;
  real<void(const StringRef *, llvm::SmallVectorImpl<StringRef> &, char, int,
            bool)>("_ZNK4llvm9StringRef5splitERNS_15SmallVectorImplIS0_EEcib")(
      new StringRef("a,b,,c,d,e,f"), parts, ',', -1, true);
  parts.push_back("own");
  std::printf("parts: %s\n", llvm::join(parts, "|").c_str());
  size_t called = 0;
  // It calls a callable of ours.
  real<void(size_t, size_t, llvm::function_ref<void(size_t)>)>(
      "_ZN4llvm11parallelForEmmNS_12function_refIFvmEEE")(
      7, 8, [&](size_t index) { called = index; });
  std::printf("called with %zu\n", called);
  std::fflush(stdout);
  _exit(0);
}
