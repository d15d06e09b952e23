#include "entry.hpp"

#include <unistd.h>

#include <map>
#include <unordered_map>

#include "context.hpp"
#include "queue.hpp"

namespace eagle::emu {
namespace {

std::mutex device_mutex;
std::condition_variable progress;
pid_t owner = 0;  // the process that called cuInit
std::unordered_map<const char*, long> call_counts;
thread_local std::unique_lock<std::mutex>* held_here = nullptr;
thread_local bool in_callback = false;

std::string without_version(std::string name) {
  size_t mark = name.rfind("_v");
  bool versioned = mark != std::string::npos && mark + 2 < name.size() && isdigit(name[mark + 2]);
  return versioned ? name.substr(0, mark) : name;
}

}  // namespace

DeviceLock::DeviceLock() : held_(device_mutex) { held_here = &held_; }
DeviceLock::~DeviceLock() { held_here = nullptr; }
void DeviceLock::wait_for_progress() {
  // Another thread that takes the lock meanwhile sets its own `held_here`; it is thread-local, so ours stays.
  progress.wait(*held_here);
}
void DeviceLock::announce_progress() { progress.notify_all(); }

WithoutLock::WithoutLock() : held_(held_here) { held_->unlock(); }
WithoutLock::~WithoutLock() { held_->lock(); }

void forbid_calls_on_this_thread() { in_callback = true; }

void initialise() {
  if (!owner) owner = getpid();
}

CUresult permitted() {
  // cuLaunchHostFunc: "The host function must not make any CUDA API calls. Attempting to use a CUDA API may result in
  // CUDA_ERROR_NOT_PERMITTED, but this is not required."
  if (in_callback) return CUDA_ERROR_NOT_PERMITTED;
  // CUDA C++ Programming Guide, "Initialization": CUDA in a forked child of an initialised process is not supported; the
  // driver answers as if it had not been initialised. Looked at before the lock, which the parent may hold for ever.
  if (owner && owner != getpid()) return CUDA_ERROR_NOT_INITIALIZED;
  return CUDA_SUCCESS;
}

void check(Needs needs) {
  require(owner != 0, CUDA_ERROR_NOT_INITIALIZED);  // cuInit: "must be called before any other function"
  if (needs == Needs::Initialised) return;
  require(current_context() != nullptr, CUDA_ERROR_INVALID_CONTEXT);
  if (needs == Needs::Context) refuse_after_fault();
}

void refuse_after_fault() {
  // CUDA_ERROR_ILLEGAL_ADDRESS: "This leaves the process in an inconsistent state and any further CUDA work will return
  // the same error."
  require(queue().fault() == CUDA_SUCCESS, queue().fault());
}

void note_call(const char* name) { ++call_counts[name]; }
void forget_calls() { call_counts.clear(); }

std::string calls_made() {
  std::map<std::string, long> sorted;
  for (auto& [name, count] : call_counts) sorted[without_version(name)] += count;
  std::string text;
  for (auto& [name, count] : sorted) text += name + " " + std::to_string(count) + "\n";
  return text;
}

}  // namespace eagle::emu
