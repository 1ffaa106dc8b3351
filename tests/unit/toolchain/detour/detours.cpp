// Detours each function of a library, and prints what a call gives before, with
// the detour, and by the original.
#include "detour/Detour.cpp"
#include "detour/LoadedObjects.cpp"
#include "detour/RelocatorAArch64.cpp"
#include "detour/RelocatorX86.cpp"
#include "standins/llvm/Text.cpp"
#include "standins/llvm/raw_ostream.cpp"

#include <dlfcn.h>
#include <iostream>
#include <sys/prctl.h>

using namespace adbg::detour;

using Function = int (*)(int);
struct Target {
  const char *name;
  Function function;
};

static int instead(int x) { return -x; }

int main(int count, char **arguments) {
  void *library = dlopen(arguments[1], RTLD_NOW);
  auto *targets = static_cast<Target *>(dlsym(library, "targets"));
  // What systems that forbid changing code do: PR_SET_MDWE.
  if (count > 2)
    prctl(65, 1, 0, 0, 0);
  SymbolSet wanted;
  for (Target *target = targets; target->name; ++target)
    wanted.add(target->name);
  for (const LoadedObject &object : loadedObjects()) {
    if (!object.contains(targets))
      continue;
    SymbolPlaces places = object.find(wanted);
    std::vector<int> before;
    std::vector<const Crossing *> crossings;
    {
      Detours detours(object);
      for (size_t i = 0; i < places.size(); ++i) {
        bool isEndless = targets[i].name == std::string("_Ztiny");
        before.push_back(isEndless ? 0 : targets[i].function(5));
        crossings.push_back(
            &detours.add(places[i], reinterpret_cast<void *>(instead)));
      }
    }
    for (size_t i = 0; i < places.size(); ++i) {
      std::cout << targets[i].name << ": ";
      if (crossings[i]->refusal)
        std::cout << crossings[i]->refusal << '\n';
      else
        std::cout << before[i] << ' ' << targets[i].function(5) << ' '
                  << reinterpret_cast<Function>(crossings[i]->original)(5)
                  << '\n';
    }
  }
}
