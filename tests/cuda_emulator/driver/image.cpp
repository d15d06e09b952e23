#include "image.hpp"

#include <dlfcn.h>
#include <elf.h>

#include <cstdio>
#include <cstring>
#include <set>

#include "../load_library.hpp"
#include "context.hpp"
#include "control.hpp"
#include "entry.hpp"
#include "kernel.hpp"

namespace eagle::emu {
namespace {

constexpr unsigned cuda_machine = 190;  // EM_CUDA of <elf.h>, which older ones lack
std::set<CUmodule> modules;
std::set<const Function*> functions;  // of images that are loaded

size_t size_of(const Elf64_Ehdr& header) { return header.e_shoff + size_t{header.e_shnum} * header.e_shentsize; }

// The PTX of a driver's CUDA, as 87 for 8.7 (PTX ISA, "Release Notes"): 12.0 has 8.0, 13.0 has 9.0, and 12.6 that of 12.5.
int newest_ptx() {
  int major = driver_version() / 1000, minor = driver_version() % 1000 / 10;
  return (major - 4) * 10 + minor - (major == 12 && minor > 5);
}

[[noreturn]] void refuse_text(const char* text) {
  if (!strstr(text, ".target")) throw Refusal{CUDA_ERROR_INVALID_IMAGE};
  int major = 0, minor = 0;
  const char* stated = strstr(text, ".version");
  bool read = stated && sscanf(stated, ".version %d.%d", &major, &minor) == 2;
  // CUDA_ERROR_UNSUPPORTED_PTX_VERSION: "the provided PTX was compiled with an unsupported toolchain".
  throw Refusal{read && major * 10 + minor > newest_ptx() ? CUDA_ERROR_UNSUPPORTED_PTX_VERSION : CUDA_ERROR_INVALID_PTX};
}

void* load(const void* bytes) {
  auto& header = *static_cast<const Elf64_Ehdr*>(bytes);
  if (memcmp(bytes, ELFMAG, SELFMAG) != 0) refuse_text(static_cast<const char*>(bytes));
  require(header.e_machine != cuda_machine, CUDA_ERROR_NO_BINARY_FOR_GPU);
  require(header.e_machine == EM_X86_64 || header.e_machine == EM_AARCH64, CUDA_ERROR_INVALID_IMAGE);
  void* library = load_library(bytes, size_of(header));
  require(library != nullptr, CUDA_ERROR_INVALID_IMAGE);
  // cudaGraphSetConditional came with the nodes, and a driver without them has nothing that code could be linked with.
  bool linked = driver_version() >= 12030 || !dlsym(library, abi::condition_symbol);
  if (!linked) dlclose(library);
  require(linked, CUDA_ERROR_INVALID_IMAGE);
  return library;
}

}  // namespace

Image::Image(const void* bytes) : library_(load(bytes)) {
  auto* kernel = static_cast<const abi::Kernel*>(dlsym(library_, abi::kernels_symbol));
  auto** services = static_cast<const abi::Services**>(dlsym(library_, abi::services_symbol));
  thread_ = static_cast<abi::Thread**>(dlsym(library_, abi::thread_symbol));
  require(kernel && services && thread_, CUDA_ERROR_INVALID_IMAGE);
  *services = kernel_services();
  for (; kernel->name; ++kernel, ++names_) {
    auto function = std::make_shared<Function>(Function{kernel->name, *kernel, this, current_context()});
    functions_[kernel->name] = function;
    functions.insert(function.get());
    Dl_info info;
    if (dladdr(kernel->function, &info) && info.dli_sname) functions_[info.dli_sname] = function;
  }
}

Image::~Image() {
  for (auto& [name, function] : functions_) functions.erase(function.get());
  if (library_) dlclose(library_);
}

Function* Image::find(const std::string& name) {
  auto found = functions_.find(name);
  return found == functions_.end() ? nullptr : found->second.get();
}

CUmodule load_image(const void* bytes) {
  require(bytes != nullptr, CUDA_ERROR_INVALID_VALUE);
  auto* module = new CUmod_st{std::make_shared<Image>(bytes)};
  modules.insert(module);
  return module;
}

CUmodule find_module(CUmodule handle) {
  require(modules.count(handle), CUDA_ERROR_INVALID_HANDLE);
  return handle;
}

void unload(CUmodule module) {
  modules.erase(find_module(module));  // launches in flight and nodes hold the image
  delete module;
}

Function& find_function(CUmodule module, const char* name) {
  Function* function = find_module(module)->image->find(name);
  require(function != nullptr, CUDA_ERROR_NOT_FOUND);
  return *function;
}

CUmodule module_of(const Function& function) {
  for (CUmodule module : modules)
    if (module->image.get() == function.image) return module;
  throw Refusal{CUDA_ERROR_INVALID_HANDLE};
}

std::shared_ptr<Image> image_of(const Function& function) { return module_of(function)->image; }

Function& function_of(CUfunction handle) {
  auto* function = reinterpret_cast<Function*>(handle);
  require(functions.count(function), CUDA_ERROR_INVALID_HANDLE);
  module_of(*function);  // refused once its module has been unloaded, even while launches in flight keep the image
  return *function;
}

long live_modules() { return modules.size(); }

}  // namespace eagle::emu
