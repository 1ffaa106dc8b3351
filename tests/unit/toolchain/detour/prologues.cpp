// Relocates the first instructions of functions in ELF files.
#include "detour/LoadedObjects.cpp"
#include "detour/RelocatorAArch64.cpp"
#include "detour/RelocatorX86.cpp"
#include "standins/llvm/Text.cpp"
#include "standins/llvm/raw_ostream.cpp"

#include <iostream>

using namespace adbg::detour;

int main(int, char **arguments) {
  LoadedObject object;
  object.path = arguments[1];
  SymbolSet wanted;
  std::vector<std::string> names;
  for (std::string name; std::getline(std::cin, name);)
    names.push_back(name);
  for (const std::string &name : names)
    wanted.add(name);
  SymbolPlaces places = object.findInFile(wanted);
  MappedFile file(arguments[1]);
  auto *header = file.at<ElfW(Ehdr)>(0);
  auto *segments = file.at<ElfW(Phdr)>(header->e_phoff, header->e_phnum);
  for (size_t i = 0; i < places.size(); ++i) {
    std::cout << names[i] << ' ';
    if (!places[i].isKnown()) {
      std::cout << "absent\n";
      continue;
    }
    const uint8_t *bytes = nullptr;
    for (const ElfW(Phdr) *one = segments; one < segments + header->e_phnum;
         ++one)
      if (one->p_type == PT_LOAD && places[i].offset >= one->p_vaddr &&
          places[i].offset < one->p_vaddr + one->p_filesz)
        bytes =
            file.at<uint8_t>(places[i].offset - one->p_vaddr + one->p_offset);
    uint8_t copy[mostRelocated];
    FunctionCode code{bytes, places[i].size + (places[i].size < 64 ? 16 : 0),
                      places[i].offset};
    Relocated moved =
        header->e_machine == EM_X86_64
            ? relocateX86(code, 5, copy, places[i].offset + (1 << 30))
            : relocateAArch64(code, 4, copy, places[i].offset + (1 << 26));
    if (moved.refusal)
      std::cout << moved.refusal << '\n';
    else
      std::cout << "taken " << moved.taken << " copied " << moved.size << '\n';
  }
}
