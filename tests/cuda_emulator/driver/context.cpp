#include "context.hpp"

#include <vector>

#include "entry.hpp"

namespace eagle::emu {
namespace {

constexpr int most_devices = 8;
CUctx_st contexts[most_devices];
int devices = 1;
thread_local std::vector<CUcontext> stack;

bool is_context(CUcontext context) { return context >= contexts && context < contexts + devices; }

}  // namespace

void configure_devices(int count) { devices = count < most_devices ? count : most_devices; }
int device_count() { return devices; }

CUcontext primary_context(CUdevice device) {
  require(device >= 0 && device < devices, CUDA_ERROR_INVALID_DEVICE);
  contexts[device].device = device;
  return &contexts[device];
}

CUcontext current_context() { return stack.empty() ? nullptr : stack.back(); }

void set_current_context(CUcontext context) {
  require(!context || is_context(context), CUDA_ERROR_INVALID_CONTEXT);
  // cuCtxSetCurrent: replaces the top of the stack; null pops it.
  if (!stack.empty()) stack.pop_back();
  if (context) stack.push_back(context);
}

void push_context(CUcontext context) {
  require(is_context(context), CUDA_ERROR_INVALID_CONTEXT);
  stack.push_back(context);
}

CUcontext pop_context() {
  require(!stack.empty(), CUDA_ERROR_INVALID_CONTEXT);
  CUcontext context = stack.back();
  stack.pop_back();
  return context;
}

}  // namespace eagle::emu
