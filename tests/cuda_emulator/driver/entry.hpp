// How every entry point begins and ends: the lock, who may call, and refusals as error codes.
#pragma once
#include <cuda.h>

#include <condition_variable>
#include <mutex>
#include <string>

namespace eagle::emu {

struct Refusal {
  CUresult code;
};

inline void require(bool holds, CUresult code) {
  if (!holds) throw Refusal{code};
}

// Cleanup: a context; and what is to be released is, even after a fault, though the call answers with that.
enum class Needs { Initialised, Context, Cleanup };

// The one lock of the device. A thread that holds it may let it go while a host callback runs.
class DeviceLock {
 public:
  DeviceLock();
  ~DeviceLock();
  DeviceLock(const DeviceLock&) = delete;
  DeviceLock& operator=(const DeviceLock&) = delete;

  static void wait_for_progress();
  static void announce_progress();

 private:
  friend class WithoutLock;
  std::unique_lock<std::mutex> held_;
};

class WithoutLock {
 public:
  WithoutLock();
  ~WithoutLock();

 private:
  std::unique_lock<std::mutex>* held_;
};

// Set in the thread that runs host callbacks.
void forbid_calls_on_this_thread();

void initialise();
void note_call(const char* name);
std::string calls_made();
void forget_calls();

// Throws where the call may not go on; `permitted` needs no lock, `check` does.
CUresult permitted();
void check(Needs needs);
void refuse_after_fault();

template <class Body>
CUresult enter(const char* name, Needs needs, Body body) {
  if (CUresult refused = permitted()) return refused;
  DeviceLock lock;
  note_call(name);
  try {
    check(needs);
    body();
    if (needs == Needs::Cleanup) refuse_after_fault();
    return CUDA_SUCCESS;
  } catch (const Refusal& refusal) {
    return refusal.code;
  }
}

}  // namespace eagle::emu
