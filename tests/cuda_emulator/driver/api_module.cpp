// Entry points: modules, libraries, functions, kernel launches.
#include <cstring>

#include "capture.hpp"
#include "entry.hpp"
#include "image.hpp"
#include "kernel.hpp"
#include "stream.hpp"

using namespace eagle::emu;

namespace {

// A CUlibrary is a CUmodule here, and a CUkernel is a CUfunction.
CUmodule as_module(CUlibrary library) { return reinterpret_cast<CUmodule>(library); }
CUfunction as_function(CUkernel kernel) { return reinterpret_cast<CUfunction>(kernel); }

template <class Handle>
Handle handle_of(Function& function) {
  return reinterpret_cast<Handle>(&function);
}

CUmodule load(const void* image) {
  // Loading allocates on the device and may wait for it (Programming Guide, "Lazy Loading"), so it is unsafe in a capture.
  refuse_unsafe_call();
  return load_image(image);
}

int attribute(const Function& function, CUfunction_attribute name) {
  switch (name) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: return 1024;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: return function.most_dynamic_shared;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: return 32;
    default: return 0;
  }
}

void launch_kernel(CUfunction handle, const LaunchShape& shape, CUstream stream_handle, void** parameters,
                   void** extra) {
  CUstream stream = use_stream(stream_handle);
  Function& function = function_of(handle);
  // CUDA_ERROR_INVALID_HANDLE: the stream and the function are of different contexts.
  require(function.context == stream->context, CUDA_ERROR_INVALID_HANDLE);
  submit(stream, std::make_shared<KernelAction>(function, shape, parameters, extra));
}

}  // namespace

CUresult cuModuleLoadData(CUmodule* out, const void* image) {
  return enter(__func__, Needs::Context, [&] { *out = load(image); });
}

CUresult cuModuleLoadDataEx(CUmodule* out, const void* image, unsigned, CUjit_option*, void**) {
  return cuModuleLoadData(out, image);
}

CUresult cuModuleUnload(CUmodule module) {
  return enter(__func__, Needs::Initialised, [&] { unload(module); });
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  *mode = CU_MODULE_LAZY_LOADING;
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction* out, CUmodule module, const char* name) {
  return enter(__func__, Needs::Initialised, [&] { *out = handle_of<CUfunction>(find_function(module, name)); });
}

CUresult cuLibraryLoadData(CUlibrary* out, const void* image, CUjit_option*, void**, unsigned, CUlibraryOption*, void**,
                           unsigned) {
  return enter(__func__, Needs::Context, [&] { *out = reinterpret_cast<CUlibrary>(load(image)); });
}

CUresult cuLibraryUnload(CUlibrary library) {
  return enter(__func__, Needs::Initialised, [&] { unload(as_module(library)); });
}

CUresult cuLibraryGetKernel(CUkernel* out, CUlibrary library, const char* name) {
  return enter(__func__, Needs::Initialised,
               [&] { *out = handle_of<CUkernel>(find_function(as_module(library), name)); });
}

CUresult cuLibraryGetModule(CUmodule* out, CUlibrary library) {
  return enter(__func__, Needs::Initialised, [&] { *out = find_module(as_module(library)); });
}

CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary library) {
  return enter(__func__, Needs::Initialised, [&] { *count = find_module(as_module(library))->image->count(); });
}

CUresult cuFuncGetModule(CUmodule* out, CUfunction function) {
  return enter(__func__, Needs::Initialised, [&] { *out = module_of(function_of(function)); });
}

CUresult cuFuncGetName(const char** name, CUfunction function) {
  return enter(__func__, Needs::Initialised, [&] { *name = function_of(function).name.c_str(); });
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t* offset, size_t* size) {
  return enter(__func__, Needs::Initialised, [&] {
    const abi::Kernel& kernel = function_of(function).kernel;
    require(index < kernel.count, CUDA_ERROR_INVALID_VALUE);
    *offset = kernel.offsets[index];
    if (size) *size = kernel.sizes[index];
  });
}

CUresult cuFuncGetParamCount(CUfunction function, size_t* count) {
  return enter(__func__, Needs::Initialised, [&] { *count = function_of(function).kernel.count; });
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute name, CUfunction function) {
  return enter(__func__, Needs::Initialised, [&] { *value = attribute(function_of(function), name); });
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute name, int value) {
  return enter(__func__, Needs::Initialised, [&] {
    if (name == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) function_of(function).most_dynamic_shared = value;
  });
}

CUresult cuKernelGetFunction(CUfunction* out, CUkernel kernel) {
  return enter(__func__, Needs::Initialised, [&] { *out = handle_of<CUfunction>(function_of(as_function(kernel))); });
}

CUresult cuKernelGetLibrary(CUlibrary* out, CUkernel kernel) {
  return cuFuncGetModule(reinterpret_cast<CUmodule*>(out), as_function(kernel));
}

CUresult cuKernelGetName(const char** name, CUkernel kernel) { return cuFuncGetName(name, as_function(kernel)); }

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t* offset, size_t* size) {
  return cuFuncGetParamInfo(as_function(kernel), index, offset, size);
}

CUresult cuKernelGetParamCount(CUkernel kernel, size_t* count) { return cuFuncGetParamCount(as_function(kernel), count); }

CUresult cuKernelGetAttribute(int* value, CUfunction_attribute name, CUkernel kernel, CUdevice) {
  return cuFuncGetAttribute(value, name, as_function(kernel));
}

CUresult cuKernelSetAttribute(CUfunction_attribute name, int value, CUkernel kernel, CUdevice) {
  return cuFuncSetAttribute(as_function(kernel), name, value);
}

CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared, CUstream stream, void** parameters, void** extra) {
  return enter(__func__, Needs::Context, [&] {
    launch_kernel(function, {{gx, gy, gz}, {bx, by, bz}, shared}, stream, parameters, extra);
  });
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* c, CUfunction function, void** parameters, void** extra) {
  return enter(__func__, Needs::Context, [&] {
    LaunchShape shape{{c->gridDimX, c->gridDimY, c->gridDimZ}, {c->blockDimX, c->blockDimY, c->blockDimZ},
                      c->sharedMemBytes};
    launch_kernel(function, shape, c->hStream, parameters, extra);
  });
}
