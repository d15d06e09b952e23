// Entry points: memory, pools, what is known of a pointer.
#include <cstring>

#include "actions.hpp"
#include "capture.hpp"
#include "context.hpp"
#include "entry.hpp"
#include "memory.hpp"
#include "stream.hpp"

// A pool only says which kind of memory it gives.
struct CUmemPoolHandle_st {
  eagle::emu::MemoryKind kind;
};

using namespace eagle::emu;

namespace {

CUmemPoolHandle_st device_pool{MemoryKind::Device}, pinned_pool{MemoryKind::Pinned}, managed_pool{MemoryKind::Managed};

CUmemoryPool pool_of(CUmemAllocationType type, CUmemLocationType location) {
  if (type == CU_MEM_ALLOCATION_TYPE_MANAGED) return &managed_pool;
  return location == CU_MEM_LOCATION_TYPE_DEVICE ? &device_pool : &pinned_pool;
}

uint64_t allocate_now(size_t bytes, MemoryKind kind) {
  refuse_unsafe_call();  // cuThreadExchangeStreamCaptureMode: cuMemAlloc is its example of an unsafe call
  return heap().allocate(bytes, kind, current_context());
}

// A free waits for the work in flight. Nothing runs for it: the memory goes once what was enqueued before has run.
void free_now(uint64_t address, MemoryKind kind) {
  refuse_unsafe_call();
  const Allocation* found = heap().find(address);
  bool device = kind == MemoryKind::Device;
  require(found && (found->kind != MemoryKind::Pinned) == device, CUDA_ERROR_INVALID_VALUE);
  heap().give_back(address);
  std::vector<OpRef> in_flight = queue().all();
  if (in_flight.empty())
    heap().release(address);
  else
    queue().add(std::make_shared<ReleaseAction>(address), in_flight);
}

CUdeviceptr allocate_async(size_t bytes, MemoryKind kind, CUstream handle) {
  CUstream stream = use_stream(handle);
  if (!stream->capture) return heap().allocate(bytes, kind, current_context());
  CUDA_MEM_ALLOC_NODE_PARAMS_v2 params{};
  params.bytesize = bytes;
  params.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, current_context()->device};
  auto action = std::make_shared<AllocAction>(params);
  capture_node(stream, action);
  return action->address();
}

void describe_pointer(void* out, CUpointer_attribute name, CUdeviceptr address) {
  const Allocation* found = heap().find(address);
  auto put = [&](auto value) { memcpy(out, &value, sizeof value); };
  bool host = found && found->kind != MemoryKind::Device;
  switch (name) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: return put(found ? found->context : nullptr);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return put(unsigned(!found ? 0 : found->kind == MemoryKind::Pinned ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE));
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: return put(found ? address : CUdeviceptr{0});
    case CU_POINTER_ATTRIBUTE_HOST_POINTER: return put(host ? address : CUdeviceptr{0});
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: return put(unsigned(found && found->kind == MemoryKind::Managed));
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return put(found ? found->context->device : -2);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: return put(found ? CUdeviceptr(found->base) : CUdeviceptr{0});
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: return put(found ? found->size : size_t{0});
    case CU_POINTER_ATTRIBUTE_MAPPED: return put(unsigned(found != nullptr));
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: return put(found ? (unsigned long long)found->base : 0ull);
    default: return put(0u);
  }
}

}  // namespace

CUresult cuMemGetInfo(size_t* free, size_t* total) {
  return enter(__func__, Needs::Context, [&] {
    size_t used = heap().used(current_context());
    *total = heap().capacity;
    *free = *total > used ? *total - used : 0;
  });
}

CUresult cuMemAlloc(CUdeviceptr* out, size_t bytes) {
  return enter(__func__, Needs::Context, [&] { *out = allocate_now(bytes, MemoryKind::Device); });
}

CUresult cuMemAllocManaged(CUdeviceptr* out, size_t bytes, unsigned) {
  return enter(__func__, Needs::Context, [&] { *out = allocate_now(bytes, MemoryKind::Managed); });
}

CUresult cuMemHostAlloc(void** out, size_t bytes, unsigned) {
  return enter(__func__, Needs::Context,
               [&] { *out = reinterpret_cast<void*>(allocate_now(bytes, MemoryKind::Pinned)); });
}

CUresult cuMemAllocHost(void** out, size_t bytes) { return cuMemHostAlloc(out, bytes, 0); }

CUresult cuMemFree(CUdeviceptr address) {
  return enter(__func__, Needs::Cleanup, [&] {
    if (address) free_now(address, MemoryKind::Device);
  });
}

CUresult cuMemFreeHost(void* address) {
  return enter(__func__, Needs::Cleanup, [&] { free_now(reinterpret_cast<uint64_t>(address), MemoryKind::Pinned); });
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr* out, void* address, unsigned) {
  return enter(__func__, Needs::Context, [&] {
    *out = reinterpret_cast<CUdeviceptr>(address);
    require(heap().find(*out), CUDA_ERROR_INVALID_VALUE);
  });
}

CUresult cuMemGetAddressRange(CUdeviceptr* base, size_t* size, CUdeviceptr address) {
  return enter(__func__, Needs::Context, [&] {
    const Allocation* found = heap().find(address);
    require(found, CUDA_ERROR_NOT_FOUND);
    if (base) *base = found->base;
    if (size) *size = found->size;
  });
}

CUresult cuMemAllocAsync(CUdeviceptr* out, size_t bytes, CUstream stream) {
  return enter(__func__, Needs::Context, [&] { *out = allocate_async(bytes, MemoryKind::Device, stream); });
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* out, size_t bytes, CUmemoryPool pool, CUstream stream) {
  return enter(__func__, Needs::Context, [&] { *out = allocate_async(bytes, pool->kind, stream); });
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream handle) {
  return enter(__func__, Needs::Cleanup, [&] {
    CUstream stream = use_stream(handle);
    require(heap().find(address), CUDA_ERROR_INVALID_VALUE);
    if (stream->capture) {
      capture_node(stream, std::make_shared<FreeAction>(address));
      return;
    }
    heap().give_back(address);
    enqueue(stream, std::make_shared<ReleaseAction>(address));
  });
}

CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice) {
  *pool = &device_pool;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) { return cuDeviceGetMemPool(pool, device); }

CUresult cuMemGetDefaultMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type) {
  *pool = pool_of(type, location->type);
  return CUDA_SUCCESS;
}

CUresult cuMemGetMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type) {
  return cuMemGetDefaultMemPool(pool, location, type);
}

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  *pool = pool_of(properties->allocType, properties->location.type);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolDestroy(CUmemoryPool) { return CUDA_SUCCESS; }
CUresult cuMemPoolTrimTo(CUmemoryPool, size_t) { return CUDA_SUCCESS; }
CUresult cuMemPoolSetAttribute(CUmemoryPool, CUmemPool_attribute, void*) { return CUDA_SUCCESS; }
CUresult cuMemPoolSetAccess(CUmemoryPool, const CUmemAccessDesc*, size_t) { return CUDA_SUCCESS; }

CUresult cuMemPoolGetAttribute(CUmemoryPool, CUmemPool_attribute name, void* value) {
  // The first three say which dependencies let memory be used again: all; the others count bytes.
  bool flag = name <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
  if (flag)
    *static_cast<int*>(value) = 1;
  else
    *static_cast<cuuint64_t*>(value) = 0;
  return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool, CUmemLocation*) {
  *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void* out, CUpointer_attribute name, CUdeviceptr address) {
  return enter(__func__, Needs::Initialised, [&] {
    // "CUDA_ERROR_INVALID_VALUE" for a pointer that no context allocated, mapped or registered.
    require(heap().find(address), CUDA_ERROR_INVALID_VALUE);
    describe_pointer(out, name, address);
  });
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* names, void** out, CUdeviceptr address) {
  return enter(__func__, Needs::Initialised, [&] {
    for (unsigned i = 0; i < count; ++i) describe_pointer(out[i], names[i], address);
  });
}
