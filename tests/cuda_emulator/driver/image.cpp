#include "image.hpp"

#include <dlfcn.h>
#include <elf.h>

#include <cstring>
#include <set>

#include "../load_library.hpp"
#include "context.hpp"
#include "entry.hpp"
#include "kernel.hpp"

namespace eagle::emu {
namespace {

constexpr unsigned cuda_machine = 190;  // EM_CUDA of <elf.h>, which older ones lack
std::set<CUmodule> modules;
std::set<const Function*> functions;  // of images that are loaded

size_t size_of(const Elf64_Ehdr& header) { return header.e_shoff + size_t{header.e_shnum} * header.e_shentsize; }

void* load(const void* bytes) {
  auto& header = *static_cast<const Elf64_Ehdr*>(bytes);
  if (memcmp(bytes, ELFMAG, SELFMAG) != 0) {
    bool ptx = strstr(static_cast<const char*>(bytes), ".target") != nullptr;
    throw Refusal{ptx ? CUDA_ERROR_INVALID_PTX : CUDA_ERROR_INVALID_IMAGE};
  }
  require(header.e_machine != cuda_machine, CUDA_ERROR_NO_BINARY_FOR_GPU);
  require(header.e_machine == EM_X86_64 || header.e_machine == EM_AARCH64, CUDA_ERROR_INVALID_IMAGE);
  void* library = load_library(bytes, size_of(header));
  require(library != nullptr, CUDA_ERROR_INVALID_IMAGE);
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
