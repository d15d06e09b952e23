// CUDA C++ source made into a source for the host compiler.
#pragma once
#include <string>
#include <vector>

namespace eagle::nvrtc {

// The kernels that a source defines and that are not templates, in their order.
std::vector<std::string> kernels_of(const std::string& source);

// The whole translation unit: device.hpp, the source, and the table of its kernels and of the instances asked for.
std::string host_source(const std::string& source, const std::string& name, const std::vector<std::string>& instances);

}  // namespace eagle::nvrtc
