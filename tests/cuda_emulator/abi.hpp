// What a kernel image and the emulated driver know of each other. The image is an ordinary shared object that our own
// runtime compiler makes from CUDA C++ source; it exports the three names at the end.
#pragma once

namespace eagle::emu::abi {

struct Index {
  unsigned x, y, z;
};

struct Thread {
  Index thread, block, block_size, grid;
  char* dynamic_shared;
};

// What a kernel may ask of the driver.
struct Services {
  void (*barrier)();
  void (*set_condition)(unsigned long long handle, unsigned value);
};

struct Kernel {
  const char* name;  // null in the last one
  void (*call)(void** parameters);
  const void* function;
  unsigned count;
  const unsigned long* sizes;
  const unsigned long* offsets;
  bool has_barrier;
};

constexpr const char* kernels_symbol = "eagle_kernels";    // Kernel[]
constexpr const char* thread_symbol = "eagle_thread";      // Thread*, set by the driver before it enters a thread
constexpr const char* services_symbol = "eagle_services";  // const Services*, set when the image is loaded
constexpr const char* condition_symbol = "eagle_set_conditional";  // there if a kernel sets the condition of a node

}  // namespace eagle::emu::abi
