// Leaves watched calls by exceptions, by returning, and by ending the thread.
// It is linked to Unwinding.cpp, which is compiled as the agent is.
#include "support/Unwinding.h"

#include <cstdlib>
#include <iostream>
#include <pthread.h>
#include <stdexcept>

static void watched(int depth, const char *error) {
  adbg::callWatched(
      [&] {
        std::cout << "enter " << depth << '\n';
        if (depth)
          watched(depth - 1, error);
        else if (error)
          throw std::runtime_error(error);
      },
      [&] { std::cout << "leave " << depth << '\n'; });
  std::cout << "return " << depth << '\n';
}

int main() {
  watched(0, nullptr);
  for (const char *error : {"first", "second"})
    try {
      watched(1, error);
    } catch (const std::exception &caught) {
      std::cout << "caught " << caught.what() << '\n';
    }
  pthread_t thread;
  auto end = [](void *) -> void * {
    adbg::callWatched([] { pthread_exit(nullptr); },
                      [] { std::cout << "leave the thread\n"; });
    std::abort();
  };
  if (pthread_create(&thread, nullptr, end, nullptr) != 0)
    return 1;
  pthread_join(thread, nullptr);
  watched(0, nullptr);
}
