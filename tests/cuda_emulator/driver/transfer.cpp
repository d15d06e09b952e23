#include "transfer.hpp"

#include <algorithm>
#include <cstring>

#include "context.hpp"
#include "entry.hpp"
#include "memory.hpp"

namespace eagle::emu {
namespace {

// One side of a copy: where its rows begin.
struct Side {
  uint64_t start;
  size_t pitch, height;
  bool host;

  uint64_t row(size_t y, size_t z) const { return start + (z * height + y) * pitch; }
};

Side side(CUmemorytype type, const void* host, CUdeviceptr device, size_t x, size_t y, size_t z, size_t pitch,
          size_t height, const CUDA_MEMCPY3D& copy) {
  if (!pitch) pitch = copy.WidthInBytes;
  if (!height) height = copy.Height;
  bool on_host = type == CU_MEMORYTYPE_HOST;
  uint64_t base = on_host ? reinterpret_cast<uint64_t>(host) : device;
  return {base + (z * height + y) * pitch + x, pitch, height, on_host};
}

Side source(const CUDA_MEMCPY3D& c) {
  return side(c.srcMemoryType, c.srcHost, c.srcDevice, c.srcXInBytes, c.srcY, c.srcZ, c.srcPitch, c.srcHeight, c);
}

Side target(const CUDA_MEMCPY3D& c) {
  return side(c.dstMemoryType, c.dstHost, c.dstDevice, c.dstXInBytes, c.dstY, c.dstZ, c.dstPitch, c.dstHeight, c);
}

size_t reach(const Side& side, const CUDA_MEMCPY3D& c) {
  return side.row(c.Height - 1, c.Depth - 1) + c.WidthInBytes - side.start;
}

bool empty(const CUDA_MEMCPY3D& c) { return !c.WidthInBytes || !c.Height || !c.Depth; }

// What is in one of our allocations may not run past its end, on either side; other host memory is the program's affair.
void check_side(const Side& side, const CUDA_MEMCPY3D& c) {
  bool ours = heap().is_ours(side.start);
  if (ours || !side.host) require(heap().find(side.start, reach(side, c)), CUDA_ERROR_INVALID_VALUE);
}

bool gone(const Side& side, const CUDA_MEMCPY3D& c) {
  return heap().is_ours(side.start) && !heap().find_mapped(side.start, reach(side, c));
}

bool pageable(const Side& side) { return side.host && !heap().is_ours(side.start); }

}  // namespace

CopyAction::CopyAction(const CUDA_MEMCPY3D& copy) : copy_(copy) {
  for (CUmemorytype* type : {&copy_.srcMemoryType, &copy_.dstMemoryType}) {
    require(*type != CU_MEMORYTYPE_ARRAY, CUDA_ERROR_NOT_SUPPORTED);
    if (*type == CU_MEMORYTYPE_UNIFIED) *type = CU_MEMORYTYPE_DEVICE;
  }
  if (empty(copy_)) return;
  check_side(source(copy_), copy_);
  check_side(target(copy_), copy_);
}

CUresult CopyAction::run(const OpRef&) const {
  if (empty(copy_)) return CUDA_SUCCESS;
  Side from = source(copy_), to = target(copy_);
  if (gone(from, copy_) || gone(to, copy_)) return CUDA_ERROR_ILLEGAL_ADDRESS;
  for (size_t z = 0; z < copy_.Depth; ++z)
    for (size_t y = 0; y < copy_.Height; ++y)
      memmove(reinterpret_cast<void*>(to.row(y, z)), reinterpret_cast<void*>(from.row(y, z)), copy_.WidthInBytes);
  return CUDA_SUCCESS;
}

void CopyAction::describe(CUgraphNodeParams& params) const {
  params.memcpy.copyParams = copy_;
  params.memcpy.copyCtx = current_context();
}

bool CopyAction::touches_pageable() const { return pageable(source(copy_)) || pageable(target(copy_)); }

bool CopyAction::same_memory(const CopyAction& other) const {
  return copy_.srcMemoryType == other.copy_.srcMemoryType && copy_.dstMemoryType == other.copy_.dstMemoryType;
}

// Driver API, "API synchronization behavior", asynchronous memcpy: pageable memory may be staged first, so the program may
// change it as soon as the call returns.
std::shared_ptr<const CopyAction> CopyAction::staged() const {
  auto copy = std::make_shared<CopyAction>(*this);
  Side from = source(copy_);
  if (empty(copy_) || !pageable(from)) return copy;
  auto* bytes = reinterpret_cast<const char*>(from.start);
  copy->stage_ = std::make_shared<std::vector<char>>(bytes, bytes + reach(from, copy_));
  copy->copy_.srcHost = copy->stage_->data();
  copy->copy_.srcXInBytes = copy->copy_.srcY = copy->copy_.srcZ = 0;
  copy->copy_.srcPitch = from.pitch;
  copy->copy_.srcHeight = from.height;
  return copy;
}

CUDA_MEMCPY3D linear_copy(uint64_t to, uint64_t from, size_t bytes) {
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = heap().is_ours(from) ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
  copy.dstMemoryType = heap().is_ours(to) ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
  copy.srcHost = reinterpret_cast<void*>(from);
  copy.srcDevice = from;
  copy.dstHost = reinterpret_cast<void*>(to);
  copy.dstDevice = to;
  copy.WidthInBytes = bytes;
  copy.Height = copy.Depth = 1;
  return copy;
}

FillAction::FillAction(const CUDA_MEMSET_NODE_PARAMS_v2& fill) : fill_(fill) {
  // CUDA_MEMSET_NODE_PARAMS: "Size of each element in bytes. Must be 1, 2, or 4."
  size_t unit = fill.elementSize;
  require(unit == 1 || unit == 2 || unit == 4, CUDA_ERROR_INVALID_VALUE);
  // cuMemsetD16, cuMemsetD32: the pointer "must be two byte aligned", "four byte aligned".
  require(fill.dst % unit == 0, CUDA_ERROR_INVALID_VALUE);
  fill_.height = std::max<size_t>(fill.height, 1);
  size_t row = fill.width * unit;
  if (fill_.height == 1) fill_.pitch = row;
  size_t bytes = fill_.pitch * (fill_.height - 1) + row;
  require(!bytes || heap().find(fill.dst, bytes), CUDA_ERROR_INVALID_VALUE);
}

bool FillAction::may_become(const FillAction& other) const {
  if (fill_.height == 1 && other.fill_.height == 1) return true;
  return fill_.height == other.fill_.height && fill_.width == other.fill_.width &&
         fill_.elementSize == other.fill_.elementSize && fill_.pitch == other.fill_.pitch;
}

CUresult FillAction::run(const OpRef&) const {
  size_t unit = fill_.elementSize, row = fill_.width * unit;
  if (!row) return CUDA_SUCCESS;
  if (!heap().find_mapped(fill_.dst, fill_.pitch * (fill_.height - 1) + row)) return CUDA_ERROR_ILLEGAL_ADDRESS;
  for (size_t y = 0; y < fill_.height; ++y) {
    char* start = reinterpret_cast<char*>(fill_.dst + y * fill_.pitch);
    for (size_t i = 0; i < fill_.width; ++i) memcpy(start + i * unit, &fill_.value, unit);
  }
  return CUDA_SUCCESS;
}

}  // namespace eagle::emu
