#include "memory.hpp"

#include <sys/mman.h>

#include <cstring>

#include "entry.hpp"

namespace eagle::emu {
namespace {

constexpr size_t page = 4096;
constexpr size_t alignment = 256;  // CUDA C++ Programming Guide, "Device Memory Accesses": at least 256 bytes
int openings = 0;

size_t rounded(size_t size, size_t unit) { return (size + unit - 1) / unit * unit; }
void* pointer(uint64_t address) { return reinterpret_cast<void*>(address); }

}  // namespace

Heap& heap() {
  static auto* instance = new Heap;  // never destroyed: what is left at exit needs the rest
  return *instance;
}

uint64_t Heap::allocate(size_t size, MemoryKind kind, CUcontext context, bool resident) {
  require(size > 0, CUDA_ERROR_INVALID_VALUE);  // cuMemAlloc refuses 0 bytes
  require(size <= capacity && used(context) + size <= capacity, CUDA_ERROR_OUT_OF_MEMORY);
  if (!arena_) {
    void* arena = mmap(nullptr, arena_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    require(arena != MAP_FAILED, CUDA_ERROR_OUT_OF_MEMORY);
    arena_ = next_ = reinterpret_cast<uint64_t>(arena);
  }
  Allocation made;
  made.size = size;
  made.mapped = rounded(size, page);
  require(next_ + made.mapped + page < arena_ + arena_size, CUDA_ERROR_OUT_OF_MEMORY);
  made.pages = next_;
  next_ += made.mapped + page;  // the page between stays unreadable
  made.base = made.pages + made.mapped - rounded(size, alignment);  // so that running over the end faults
  made.kind = kind;
  made.context = context;
  made.resident = resident;
  if (resident) map(made);
  ++live_;
  return (allocations_[made.base] = made).base;
}

void Heap::give_back(uint64_t base) {
  auto found = allocations_.find(base);
  require(found != allocations_.end() && found->second.owned, CUDA_ERROR_INVALID_VALUE);
  found->second.owned = false;
  --live_;
}

void Heap::release(uint64_t base) {
  set_resident(base, false);
  allocations_.erase(base);
}

void Heap::release_given_back() {
  for (auto at = allocations_.begin(); at != allocations_.end();) {
    uint64_t base = at->first;
    bool owned = (at++)->second.owned;
    if (!owned) release(base);
  }
}

void Heap::set_resident(uint64_t base, bool resident) {
  auto found = allocations_.find(base);
  if (found == allocations_.end()) return;
  Allocation& allocation = found->second;
  allocation.resident = resident;
  if (resident) return map(allocation);
  // A fresh mapping without access merges with its neighbours: address space is all that a freed allocation costs.
  mmap(pointer(allocation.pages), allocation.mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
       -1, 0);
}

void Heap::map(const Allocation& allocation) {
  mprotect(pointer(allocation.pages), allocation.mapped, PROT_READ | PROT_WRITE);
  memset(pointer(allocation.base), 0xCB, allocation.size);
  protect(allocation);
}

void Heap::protect(const Allocation& allocation) const {
  if (allocation.kind != MemoryKind::Device || !allocation.resident) return;
  mprotect(pointer(allocation.pages), allocation.mapped, open_ ? PROT_READ | PROT_WRITE : PROT_NONE);
}

const Allocation* Heap::holding(uint64_t address, size_t size) const {
  auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return nullptr;
  const Allocation& allocation = std::prev(after)->second;
  bool inside = address - allocation.base < allocation.size && size <= allocation.size - (address - allocation.base);
  return inside ? &allocation : nullptr;
}

const Allocation* Heap::find(uint64_t address, size_t size) const {
  const Allocation* allocation = holding(address, size);
  return allocation && allocation->owned ? allocation : nullptr;
}

const Allocation* Heap::find_mapped(uint64_t address, size_t size) const {
  const Allocation* allocation = holding(address, size);
  return allocation && allocation->resident ? allocation : nullptr;
}

size_t Heap::used(CUcontext context) const {
  size_t bytes = 0;
  for (auto& [base, allocation] : allocations_)
    if (allocation.context == context) bytes += allocation.size;
  return bytes;
}

void Heap::set_open(bool open) {
  open_ = open;
  for (auto& [base, allocation] : allocations_) protect(allocation);
}

OpenMemory::OpenMemory() {
  if (!openings++) heap().set_open(true);
}
OpenMemory::~OpenMemory() {
  if (!--openings) heap().set_open(false);
}

ClosedMemory::ClosedMemory() : outer_(openings) {
  if (outer_) heap().set_open(false);
  openings = 0;
}
ClosedMemory::~ClosedMemory() {
  // Another thread may have opened it meanwhile; its own count is on top of ours.
  if (outer_ && !openings) heap().set_open(true);
  openings += outer_;
}

}  // namespace eagle::emu
