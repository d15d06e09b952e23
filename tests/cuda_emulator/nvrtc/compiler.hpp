// Runs the host compiler, and keeps what it made by a hash of what went in.
#pragma once
#include <string>
#include <vector>

namespace eagle::nvrtc {

// `include` holds device.hpp; images are kept in `cache`.
void configure(const std::string& include, const std::string& cache);

struct Compiled {
  bool success;
  std::string image, log;
};

Compiled compile(const std::string& host_source, const std::vector<std::string>& options);

// The symbol of a kernel of an image, as the linker knows it; empty if there is none.
std::string symbol_of(const std::string& image, const std::string& kernel);

}  // namespace eagle::nvrtc
