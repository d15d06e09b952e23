#include "compiler.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "../abi.hpp"
#include "../load_library.hpp"

extern char** environ;

namespace eagle::nvrtc {
namespace {

std::string include_folder = ".", cache_folder = "/tmp";
// The last row: functions are the host's library's, of numbers that are known at compile time, too.
constexpr const char* fixed_options[] = {"-std=c++17", "-O1", "-ffp-contract=off", "-fno-strict-aliasing", "-fwrapv",
                                         "-fno-gnu-unique", "-w", "-shared", "-fPIC",
                                         "-frounding-math", "-fno-builtin-pow", "-fno-builtin-powf"};

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

// FNV-1a, twice with different beginnings: enough to tell a test suite's kernels apart.
std::string digest(const std::string& text) {
  unsigned long long low = 0xcbf29ce484222325, high = 0x84222325cbf29ce4;
  for (unsigned char byte : text) {
    low = (low ^ byte) * 0x100000001b3;
    high = (high ^ byte) * 0x100000001b3 + 1;
  }
  char hex[33];
  snprintf(hex, sizeof hex, "%016llx%016llx", low, high);
  return hex;
}

int run(const std::vector<std::string>& command, const std::string& log) {
  std::vector<char*> arguments;
  for (auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child;
  int failed = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 1;
  if (!failed) waitpid(child, &status, 0);
  return failed ? failed : status;
}

// Of the compiler's options only definitions and folders mean something here; the rest chooses an architecture, or what
// is fixed: no contraction, no flushing of subnormals, division and square root correctly rounded.
std::vector<std::string> kept(const std::vector<std::string>& options) {
  std::vector<std::string> kept;
  for (auto& option : options)
    if (!option.compare(0, 2, "-D") || !option.compare(0, 2, "-I")) kept.push_back(option);
  return kept;
}

}  // namespace

void configure(const std::string& include, const std::string& cache) {
  include_folder = include;
  cache_folder = cache;
}

Compiled compile(const std::string& host_source, const std::vector<std::string>& options) {
  const char* chosen = getenv("CXX");
  std::istringstream words(chosen ? chosen : "g++");
  std::vector<std::string> command{std::istream_iterator<std::string>(words), {}};
  command.insert(command.end(), std::begin(fixed_options), std::end(fixed_options));
  for (auto& option : kept(options)) command.push_back(option);
  command.push_back("-I" + include_folder);
  std::string all = host_source + read(include_folder + "/device.hpp") + read(include_folder + "/../abi.hpp");
  for (auto& word : command) all += '\n' + word;
  mkdir(cache_folder.c_str(), 0755);
  std::string stem = cache_folder + "/" + digest(all), image = stem + ".so";
  if (std::string known = read(image); !known.empty()) return {true, known, ""};
  std::string own = stem + "-" + std::to_string(getpid()) + "-" + std::to_string(size_t(&all));  // threads differ too
  write(own + ".cpp", host_source);
  for (auto& word : {own + ".cpp", std::string("-o"), own + ".so"}) command.push_back(word);
  int status = run(command, own + ".log");
  Compiled made{status == 0, read(own + ".so"), read(own + ".log")};
  if (made.success) rename((own + ".so").c_str(), image.c_str());  // in one step: others may look for it
  unlink((own + ".cpp").c_str());
  unlink((own + ".log").c_str());
  return made;
}

std::string symbol_of(const std::string& image, const std::string& kernel) {
  void* library = emu::load_library(image.data(), image.size());
  if (!library) return "";
  std::string symbol;
  auto* described = static_cast<const emu::abi::Kernel*>(dlsym(library, emu::abi::kernels_symbol));
  for (; described && described->name; ++described) {
    Dl_info info;
    if (kernel == described->name && dladdr(described->function, &info) && info.dli_sname) symbol = info.dli_sname;
  }
  dlclose(library);
  return symbol;
}

}  // namespace eagle::nvrtc
