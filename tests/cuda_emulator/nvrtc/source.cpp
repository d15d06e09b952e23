#include "source.hpp"

#include <regex>

namespace eagle::nvrtc {
namespace {

std::string without_comments(const std::string& source) {
  static const std::regex comment(R"(//[^\n]*|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/)");
  return std::regex_replace(source, comment, " ");
}

// "extern __shared__ T name[];" has no counterpart on the host: the driver hands the memory over.
std::string with_dynamic_shared(const std::string& source) {
  static const std::regex declaration(R"(extern\s+__shared__\s+([\w :]+?)\s+(\w+)\s*\[\s*\]\s*;)");
  return std::regex_replace(source, declaration, "$1* $2 = ($1*)eagle_thread->dynamic_shared;");
}

}  // namespace

std::vector<std::string> kernels_of(const std::string& source) {
  static const std::regex definition(
      R"((template\s*<[^>{};]*>\s*)?(?:\w+\s+)*?__global__\s+(?:__launch_bounds__\s*\([^)]*\)\s*)?void\s+)"
      R"((?:__launch_bounds__\s*\([^)]*\)\s*)?(\w+)\s*\()");
  std::vector<std::string> names;
  std::string text = without_comments(source);
  for (std::sregex_iterator match(text.begin(), text.end(), definition), end; match != end; ++match)
    if (!(*match)[1].matched) names.push_back((*match)[2]);
  return names;
}

std::string host_source(const std::string& source, const std::string& name,
                        const std::vector<std::string>& instances) {
  std::vector<std::string> names = kernels_of(source);
  std::string barrier = source.find("__syncthreads") == std::string::npos ? "false" : "true";
  std::string text = "#include \"device.hpp\"\n";
  // The C library has functions of the names kernels like to have: index, add, time.
  for (auto& kernel : names) text += "#define " + kernel + " eagle_kernel_" + kernel + "\n";
  text += "#line 1 \"" + name + "\"\n" + with_dynamic_shared(source) + "\n";
  names.insert(names.end(), instances.begin(), instances.end());
  text += "extern \"C\" eagle::emu::abi::Kernel eagle_kernels[];\neagle::emu::abi::Kernel eagle_kernels[] = {\n";
  for (auto& kernel : names)
    text += "  EagleKernel<&" + kernel + ">::describe(\"" + kernel + "\", " + barrier + "),\n";
  return text + "  {}};\n";
}

}  // namespace eagle::nvrtc
