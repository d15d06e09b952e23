// Memory of the device and pinned memory of the host. Addresses are never used twice, so that use after free faults.
#pragma once
#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <map>

namespace eagle::emu {

enum class MemoryKind { Device, Pinned, Managed };

struct Allocation {
  uint64_t base = 0;
  size_t size = 0;
  uint64_t pages = 0;  // the first page and the bytes of all pages; `base` is as late in them as alignment lets it be
  size_t mapped = 0;
  MemoryKind kind = MemoryKind::Device;
  CUcontext context = nullptr;
  bool owned = true;     // false once the program has given it back, though work in flight may still use it
  bool resident = true;  // false before an allocation node runs, after a free node runs
};

class Heap {
 public:
  size_t capacity = most_capacity;  // of each device, in bytes
  static constexpr size_t most_capacity = size_t{8} << 30;

  // Fresh memory is not zero: every byte is 0xCB. A graph's allocation is not resident until its node runs.
  uint64_t allocate(size_t size, MemoryKind kind, CUcontext context, bool resident = true);
  void give_back(uint64_t base);  // the program may not name it any more
  void release(uint64_t base);    // and now it is gone
  void release_given_back();      // all of that, when no work in flight is left to use it
  void set_resident(uint64_t base, bool resident);

  // The allocation of the program's that holds these bytes, else null.
  const Allocation* find(uint64_t address, size_t size = 1) const;
  // The same for work in flight.
  const Allocation* find_mapped(uint64_t address, size_t size = 1) const;
  bool is_ours(uint64_t address) const { return address >= arena_ && address < arena_ + arena_size; }

  size_t used(CUcontext context) const;
  long live() const { return live_; }
  void set_open(bool open);

 private:
  static constexpr size_t arena_size = size_t{1} << 40;  // of addresses

  const Allocation* holding(uint64_t address, size_t size) const;
  void map(const Allocation& allocation);
  void protect(const Allocation& allocation) const;

  std::map<uint64_t, Allocation> allocations_;
  uint64_t arena_ = 0, next_ = 0;
  long live_ = 0;
  bool open_ = false;
};

Heap& heap();

// Device memory is readable and writable only while one of these lives.
class OpenMemory {
 public:
  OpenMemory();
  ~OpenMemory();
};

// ... and while this one lives it is not, whatever is open around it.
class ClosedMemory {
 public:
  ClosedMemory();
  ~ClosedMemory();

 private:
  int outer_;
};

}  // namespace eagle::emu
