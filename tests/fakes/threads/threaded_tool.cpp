// A compiler whose threads run passes, for tests: threaded-tool MODE FILE.
//
//   each    three threads, each with a context of its own, one after another
//   race    the same at the same time
//   nested  a pass that waits for a thread that runs passes
//   crash   a second thread crashes in a pass
//   deep    a second thread overflows its stack in a pass
//   end     a second thread ends in a pass
//   exit    a second thread ends the process
//   fork    the process forks, and both run passes
//   first   three threads make the first contexts at the same time
//   slow    the same, and a fork of the process takes long
//   forks   three forks compile, of a process that has not compiled
//   jump    a pass is left by longjmp, then others run
//   spin    a pass of a second thread computes for minutes
//   pause   a pass waits for some seconds
//   wait    a pass waits for a second thread
//   wrong   a second thread parses a file that is invalid

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <chrono>
#include <condition_variable>
#include <csetjmp>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <pthread.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace mlir;

namespace {
/// Calls a function for the module.
struct CallPass : PassWrapper<CallPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CallPass)
  CallPass(std::function<void()> function) : function(std::move(function)) {}
  llvm::StringRef getArgument() const override { return "call"; }
  void runOnOperation() override { function(); }
  std::function<void()> function;
};
} // namespace

static int recurse(int depth) {
  volatile char page[4096];
  page[0] = char(depth);
  return recurse(depth + 1) + page[0];
}

static std::string compile(const char *file,
                           std::function<void()> within = nullptr) {
  DialectRegistry registry;
  registry.insert<arith::ArithDialect, func::FuncDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(file, &context);
  if (!module)
    return "invalid\n";
  PassManager passes(&context);
  if (within)
    passes.addPass(std::make_unique<CallPass>(within));
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  if (failed(passes.run(*module)))
    return "failed\n";
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os);
  return text;
}

int main(int argc, char **argv) {
  std::string mode = argc > 2 ? argv[1] : "";
  const char *file = argv[argc - 1];
  std::string first, others[3];
  auto write = [&] {
    llvm::outs() << first;
    for (const std::string &one : others)
      llvm::outs() << one;
    llvm::outs().flush();
  };
  auto inThread = [&](std::function<void()> function) {
    std::thread(function).join();
  };
  if (mode == "each" || mode == "race") {
    first = compile(file);
    std::vector<std::thread> threads;
    for (std::string &one : others) {
      threads.emplace_back([&] { one = compile(file); });
      if (mode == "each")
        threads.back().join();
    }
    for (std::thread &one : threads)
      if (one.joinable())
        one.join();
  } else if (mode == "nested") {
    first =
        compile(file, [&] { inThread([&] { others[0] = compile(file); }); });
  } else if (mode == "crash") {
    first = compile(file);
    inThread([&] { compile(file, [] { abort(); }); });
  } else if (mode == "deep") {
    first = compile(file);
    inThread([&] { compile(file, [] { recurse(0); }); });
  } else if (mode == "end") {
    inThread([&] { compile(file, [] { pthread_exit(nullptr); }); });
    first = compile(file);
  } else if (mode == "exit") {
    first = compile(file);
    write();
    inThread([] { exit(7); });
  } else if (mode == "first" || mode == "slow") {
    if (mode == "slow")
      pthread_atfork(nullptr, nullptr, [] { usleep(150000); });
    std::vector<std::thread> threads;
    for (std::string &one : others)
      threads.emplace_back([&] { one = compile(file); });
    for (std::thread &one : threads)
      one.join();
  } else if (mode == "jump") {
    static jmp_buf before;
    if (setjmp(before) == 0)
      compile(file, [] { longjmp(before, 1); });
    first = compile(file);
  } else if (mode == "spin") {
    first = compile(file);
    inThread([&] {
      compile(file, [] {
        for (volatile uint64_t i = 0; i < uint64_t(1) << 40; i = i + 1) {
        }
      });
    });
  } else if (mode == "pause") {
    std::mutex mutex;
    std::condition_variable never;
    first = compile(file, [&] {
      std::unique_lock<std::mutex> lock(mutex);
      never.wait_for(lock, std::chrono::seconds(5), [] { return false; });
    });
  } else if (mode == "wait") {
    std::mutex mutex;
    std::condition_variable changed;
    int turn = 0;
    auto take = [&](int mine) {
      std::unique_lock<std::mutex> lock(mutex);
      changed.wait(lock, [&] { return turn == mine; });
      ++turn;
      changed.notify_all();
    };
    std::thread other([&] { take(1); });
    first = compile(file, [&] {
      take(0);
      take(2);
    });
    other.join();
  } else if (mode == "wrong") {
    first = compile(file);
    inThread([&] { others[0] = compile("/dev/null/no.mlir"); });
  } else if (mode == "forks") {
    for (int i = 0; i < 3; ++i) {
      pid_t child = fork();
      if (child == 0) {
        first = compile(file);
        write();
        _exit(i);
      }
      int status = -1;
      waitpid(child, &status, 0);
      if (!WIFEXITED(status) || WEXITSTATUS(status) != i)
        return 1;
    }
    return 5;
  } else if (mode == "fork") {
    first = compile(file);
    pid_t child = fork();
    others[0] = compile(file);
    if (child == 0)
      _exit(others[0] != first);
    int status = 1;
    waitpid(child, &status, 0);
    if (status)
      return 1;
  } else {
    llvm::errs() << "usage: threaded-tool MODE FILE\n";
    return 2;
  }
  write();
  return 0;
}
