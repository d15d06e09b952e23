#include "control.hpp"

#include "callbacks.hpp"
#include "capture.hpp"
#include "context.hpp"
#include "entry.hpp"
#include "faults.hpp"
#include "graph.hpp"
#include "image.hpp"
#include "memory.hpp"
#include "order.hpp"
#include "plan.hpp"

#define EAGLE_EXPORT extern "C" __attribute__((visibility("default")))

namespace eagle::emu {
namespace {
int version = CUDA_VERSION;
}
int driver_version() { return version; }
}  // namespace eagle::emu

using namespace eagle::emu;

EAGLE_EXPORT void eagleEmulatorConfigure(int driver, int devices) {
  version = driver;
  configure_devices(devices);
  watch_faults();
}

EAGLE_EXPORT void eagleEmulatorSeed(unsigned number) {
  DeviceLock lock;
  order().seed(number);
}

EAGLE_EXPORT void eagleEmulatorCapacity(unsigned long bytes) {
  DeviceLock lock;
  heap().capacity = bytes;
}

EAGLE_EXPORT void eagleEmulatorReset() {
  DeviceLock lock;
  heap().capacity = Heap::most_capacity;
  queue().forget_all();
  if (!queue().pending()) heap().release_given_back();  // the work that was to release it is forgotten
  abandon_captures();
  forget_calls();
}

EAGLE_EXPORT long eagleEmulatorLive(int kind) {
  DeviceLock lock;
  switch (kind) {
    case 0: return heap().live();
    case 1: return live_streams();
    case 2: return live_events();
    case 3: return live_graphs();
    case 4: return live_execs();
    case 5: return live_modules();
    case 6: return live_user_objects();
    default: return live_captures();
  }
}

EAGLE_EXPORT long eagleEmulatorPending() {
  DeviceLock lock;
  return queue().pending();
}

EAGLE_EXPORT void eagleEmulatorRun(long operations) {
  DeviceLock lock;
  queue().wait_for_all(operations);
}

EAGLE_EXPORT void eagleEmulatorSettle() { callbacks().settle(); }

EAGLE_EXPORT const char* eagleEmulatorTrace() {
  static std::string text;
  DeviceLock lock;
  text = queue().trace();
  return text.c_str();
}

EAGLE_EXPORT const char* eagleEmulatorCalls() {
  static std::string text;
  DeviceLock lock;
  text = calls_made();
  return text.c_str();
}
