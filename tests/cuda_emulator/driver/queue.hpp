// Everything enqueued and not yet run, and the only place where it runs: while somebody waits.
#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "action.hpp"

namespace eagle::emu {

struct Op {
  enum class State { Pending, Running, Done };

  uint64_t id = 0, priority = 0;
  uint64_t wanted = 0;  // the last wait that needs it
  State state = State::Pending;
  unsigned waiting = 0;                // operations before it that are not done
  std::vector<OpRef> after, followers;  // emptied when it is done, so that chains are let go
  ActionRef action;                    // null: a mark, such as an event
  size_t place = 0, ready_place = 0;   // where it is in the queue's two lists
  std::chrono::steady_clock::time_point finished;

  bool done() const { return state == State::Done; }
};

class Queue {
 public:
  OpRef add(ActionRef action, const std::vector<OpRef>& after);
  // `later` must not have begun.
  void put_after(const OpRef& later, const OpRef& earlier);

  // Run until all of `wanted` are done, or so many operations have run.
  void wait_for(const std::vector<OpRef>& wanted, long operations = -1);
  void wait_for_all(long operations = -1) { wait_for(pending_, operations); }
  void forget_all();

  size_t pending() const { return pending_.size(); }
  std::vector<OpRef> all() const { return pending_; }
  CUresult fault() const { return fault_; }
  const std::string& trace() const { return trace_; }

 private:
  void mark(const std::vector<OpRef>& wanted);
  OpRef next();
  void run(const OpRef& op);
  void finish(const OpRef& op);
  void make_ready(const OpRef& op);
  static void take(std::vector<OpRef>& list, size_t at, size_t Op::* place);

  std::vector<OpRef> pending_, ready_;
  uint64_t ids_ = 0, waits_ = 0;
  uint64_t spawning_ = 0;   // what operations added by a running one inherit
  unsigned running_ = 0;    // host callbacks under way in any thread
  bool remark_ = false;     // another thread may have marked meanwhile
  CUresult fault_ = CUDA_SUCCESS;
  std::string trace_;
};

Queue& queue();

}  // namespace eagle::emu
