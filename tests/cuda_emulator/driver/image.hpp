// Modules: images of kernels that the emulated runtime compiler made, loaded into the process.
#pragma once
#include <cuda.h>

#include <map>
#include <memory>
#include <string>

#include "../abi.hpp"

namespace eagle::emu {

class Image;

// A function of a module; what a CUfunction and a CUkernel point to.
struct Function {
  std::string name;
  abi::Kernel kernel;
  Image* image;
  CUcontext context;
  int most_dynamic_shared = 48 << 10;
};

class Image {
 public:
  // The bytes of a shared object. Refuses real cubins and PTX: NVIDIA's compiled output is not run.
  explicit Image(const void* bytes);
  ~Image();
  Image(const Image&) = delete;

  Function* find(const std::string& name);
  size_t count() const { return names_; }
  void enter(abi::Thread* thread) { *thread_ = thread; }

 private:
  void* library_ = nullptr;
  abi::Thread** thread_ = nullptr;
  std::map<std::string, std::shared_ptr<Function>> functions_;
  size_t names_ = 0;
};

}  // namespace eagle::emu

struct CUmod_st {
  std::shared_ptr<eagle::emu::Image> image;
};

namespace eagle::emu {

// A CUmodule and a CUlibrary are the same thing here.
CUmodule load_image(const void* bytes);
CUmodule find_module(CUmodule handle);
void unload(CUmodule module);
Function& find_function(CUmodule module, const char* name);
// The function of a handle and the image it is in, refused if its module has been unloaded.
Function& function_of(CUfunction handle);
std::shared_ptr<Image> image_of(const Function& function);
CUmodule module_of(const Function& function);
long live_modules();

}  // namespace eagle::emu
