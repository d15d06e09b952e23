// Entry points: copies and fills, now and in streams.
#include "actions.hpp"
#include "capture.hpp"
#include "context.hpp"
#include "entry.hpp"
#include "stream.hpp"
#include "transfer.hpp"

using namespace eagle::emu;

namespace {

uint64_t address(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

void copy_now(uint64_t to, uint64_t from, size_t bytes) {
  refuse_unsafe_call();  // it may synchronise
  CUstream stream = use_stream(nullptr);
  CopyAction copy(linear_copy(to, from, bytes));
  queue().wait_for(order_of(stream));
  check(Needs::Context);
  OpenMemory open;
  require(copy.run(nullptr) == CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE);
}

void copy_in(CUstream handle, uint64_t to, uint64_t from, size_t bytes) {
  CUstream stream = use_stream(handle);
  if (!bytes) return;
  CopyAction copy(linear_copy(to, from, bytes));
  if (stream->capture)
    capture_node(stream, std::make_shared<CopyAction>(copy));
  else
    enqueue(stream, copy.staged());
}

void fill_in(CUstream handle, CUdeviceptr to, unsigned value, unsigned unit, size_t count) {
  CUstream stream = use_stream(handle);
  if (!count) return;
  submit(stream, std::make_shared<FillAction>(
                     CUDA_MEMSET_NODE_PARAMS_v2{to, 0, value, unit, count, 1, current_context()}));
}

}  // namespace

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return enter(__func__, Needs::Context, [&] { copy_now(to, from, bytes); });
}
CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, size_t bytes) {
  return enter(__func__, Needs::Context, [&] { copy_now(to, address(from), bytes); });
}
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, size_t bytes) {
  return enter(__func__, Needs::Context, [&] { copy_now(address(to), from, bytes); });
}
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return enter(__func__, Needs::Context, [&] { copy_now(to, from, bytes); });
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return enter(__func__, Needs::Context, [&] { copy_in(stream, to, from, bytes); });
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  return enter(__func__, Needs::Context, [&] { copy_in(stream, to, address(from), bytes); });
}
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return enter(__func__, Needs::Context, [&] { copy_in(stream, address(to), from, bytes); });
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return enter(__func__, Needs::Context, [&] { copy_in(stream, to, from, bytes); });
}
CUresult cuMemcpyWithAttributesAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUmemcpyAttributes*,
                                     CUstream stream) {
  return enter(__func__, Needs::Context, [&] { copy_in(stream, to, from, bytes); });
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  return enter(__func__, Needs::Context, [&] { fill_in(stream, to, value, 1, count); });
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
  return enter(__func__, Needs::Context, [&] { fill_in(stream, to, value, 2, count); });
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
  return enter(__func__, Needs::Context, [&] { fill_in(stream, to, value, 4, count); });
}
// Driver API, "API synchronization behavior", memset: asynchronous to the host for device memory, in the default stream.
CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t count) {
  return cuMemsetD8Async(to, value, count, nullptr);
}
CUresult cuMemsetD32(CUdeviceptr to, unsigned value, size_t count) {
  return cuMemsetD32Async(to, value, count, nullptr);
}
