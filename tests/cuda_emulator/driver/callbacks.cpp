#include "callbacks.hpp"

#include <thread>

#include "entry.hpp"

namespace eagle::emu {

Callbacks& callbacks() {
  static auto* instance = new Callbacks;  // never destroyed: its thread outlives static objects
  return *instance;
}

void Callbacks::call_and_wait(const std::function<void()>& function) {
  bool finished = false;
  std::unique_lock<std::mutex> lock(mutex_);
  start();
  jobs_.push_back({function, &finished});
  changed_.notify_all();
  changed_.wait(lock, [&] { return finished; });
}

void Callbacks::call_later(std::function<void()> function) {
  std::unique_lock<std::mutex> lock(mutex_);
  start();
  jobs_.push_back({std::move(function), nullptr});
  changed_.notify_all();
}

void Callbacks::settle() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return jobs_.empty() && !busy_; });
}

void Callbacks::start() {
  if (started_) return;
  started_ = true;
  std::thread([this] { work(); }).detach();
}

void Callbacks::work() {
  forbid_calls_on_this_thread();
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return !jobs_.empty(); });
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    busy_ = true;
    lock.unlock();
    job.function();
    lock.lock();
    busy_ = false;
    if (job.finished) *job.finished = true;
    changed_.notify_all();
  }
}

}  // namespace eagle::emu
