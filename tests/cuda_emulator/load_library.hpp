// Bytes of a shared object, loaded into the process.
#pragma once
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace eagle::emu {

// Null if it cannot be loaded. The same bytes may be loaded many times, each a library of its own: hence a file of a new
// name each time, gone at once.
inline void* load_library(const void* bytes, size_t size) {
  const char* folder = getenv("TMPDIR");
  std::string path = std::string(folder ? folder : P_tmpdir) + "/eagle-kernels-XXXXXX";
  int file = mkstemp(path.data());
  if (file < 0) return nullptr;
  bool written = write(file, bytes, size) == static_cast<ssize_t>(size);
  close(file);
  void* library = written ? dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (!library) fprintf(stderr, "emulated CUDA device: %s\n", dlerror());
  unlink(path.c_str());
  return library;
}

}  // namespace eagle::emu
