// Entry points: initialisation, devices, contexts.
#include <cstdio>
#include <cstring>

#include "capture.hpp"
#include "context.hpp"
#include "control.hpp"
#include "entry.hpp"
#include "memory.hpp"
#include "queue.hpp"

using namespace eagle::emu;

namespace {

struct Attribute {
  CUdevice_attribute name;
  int value;
};

constexpr Attribute attributes[] = {
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
    {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 4},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
    {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
    {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 1},
    {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
};

void wait_for_context() {
  refuse_context_wait();
  queue().wait_for_all();
  check(Needs::Context);
}

}  // namespace

CUresult cuInit(unsigned flags) {
  if (flags) return CUDA_ERROR_INVALID_VALUE;
  if (CUresult refused = permitted()) return refused;
  DeviceLock lock;
  initialise();
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* version) {
  *version = driver_version();
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  return enter(__func__, Needs::Initialised, [&] { *count = device_count(); });
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return enter(__func__, Needs::Initialised, [&] { *device = primary_context(ordinal)->device; });
}

CUresult cuDeviceGetName(char* name, int size, CUdevice) {
  snprintf(name, size, "emulated device (the CPU, not a GPU)");
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  memset(uuid, 0xE0 + device, sizeof *uuid);
  return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem(size_t* bytes, CUdevice) {
  *bytes = Heap::most_capacity;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char* id, int size, CUdevice device) {
  snprintf(id, size, "0000:%02x:00.0", device);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute name, CUdevice device) {
  return enter(__func__, Needs::Initialised, [&] {
    primary_context(device);
    *value = 0;
    for (auto& attribute : attributes)
      if (attribute.name == name) *value = attribute.value;
  });
}

CUresult cuDeviceCanAccessPeer(int* can, CUdevice, CUdevice) {
  *can = 0;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return enter(__func__, Needs::Initialised, [&] {
    *context = primary_context(device);
    ++(*context)->retained;
  });
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return enter(__func__, Needs::Initialised, [&] {
    // "Releasing a primary context that has not been previously retained will fail with CUDA_ERROR_INVALID_CONTEXT."
    require(primary_context(device)->retained > 0, CUDA_ERROR_INVALID_CONTEXT);
    --primary_context(device)->retained;  // a context nobody retains keeps what it holds
  });
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  return enter(__func__, Needs::Initialised, [&] {
    *flags = primary_context(device)->flags;
    *active = primary_context(device)->retained > 0;
  });
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
  return enter(__func__, Needs::Initialised, [&] { primary_context(device)->flags = flags; });
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  return enter(__func__, Needs::Initialised, [&] { *context = current_context(); });
}

CUresult cuCtxSetCurrent(CUcontext context) {
  return enter(__func__, Needs::Initialised, [&] { set_current_context(context); });
}

CUresult cuCtxPushCurrent(CUcontext context) {
  return enter(__func__, Needs::Initialised, [&] { push_context(context); });
}

CUresult cuCtxPopCurrent(CUcontext* context) {
  return enter(__func__, Needs::Initialised, [&] {
    CUcontext popped = pop_context();
    if (context) *context = popped;
  });
}

CUresult cuCtxGetDevice(CUdevice* device) {
  return enter(__func__, Needs::Initialised, [&] {
    require(current_context() != nullptr, CUDA_ERROR_INVALID_CONTEXT);
    *device = current_context()->device;
  });
}

CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext context) {
  if (!context) return cuCtxGetDevice(device);
  *device = context->device;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetId(CUcontext context, unsigned long long* id) {
  return enter(__func__, Needs::Context, [&] { *id = 1 + (context ? context : current_context())->device; });
}

CUresult cuCtxGetFlags(unsigned* flags) {
  return enter(__func__, Needs::Context, [&] { *flags = current_context()->flags; });
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  if (least) *least = 0;
  if (greatest) *greatest = -5;
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize() { return enter(__func__, Needs::Context, wait_for_context); }

CUresult cuCtxSynchronize_v2(CUcontext) { return enter(__func__, Needs::Context, wait_for_context); }
