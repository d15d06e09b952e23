// The one thread on which functions of the program run: host nodes, cuLaunchHostFunc, destructors of user objects.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

namespace eagle::emu {

class Callbacks {
 public:
  void call_and_wait(const std::function<void()>& function);
  void call_later(std::function<void()> function);
  void settle();  // wait until nothing is left to call

 private:
  struct Job {
    std::function<void()> function;
    bool* finished;
  };

  void start();
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  bool started_ = false, busy_ = false;
};

Callbacks& callbacks();

}  // namespace eagle::emu
