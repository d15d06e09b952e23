#include "queue.hpp"

#include <algorithm>

#include "callbacks.hpp"
#include "entry.hpp"
#include "memory.hpp"
#include "order.hpp"

namespace eagle::emu {

Queue& queue() {
  static auto* instance = new Queue;  // never destroyed: what is left at exit needs the rest
  return *instance;
}

OpRef Queue::add(ActionRef action, const std::vector<OpRef>& after) {
  auto op = std::make_shared<Op>();
  op->id = ++ids_;
  op->priority = order().priority();
  op->wanted = spawning_;
  op->action = std::move(action);
  op->place = pending_.size();
  pending_.push_back(op);
  for (auto& earlier : after) put_after(op, earlier);
  if (!op->waiting) make_ready(op);
  return op;
}

void Queue::put_after(const OpRef& later, const OpRef& earlier) {
  if (!earlier || earlier->done()) return;
  later->after.push_back(earlier);
  earlier->followers.push_back(later);
  ++later->waiting;
}

void Queue::wait_for(const std::vector<OpRef>& wanted, long operations) {
  std::vector<OpRef> goals;
  for (auto& op : wanted)
    if (op && !op->done()) goals.push_back(op);
  if (goals.empty()) return;
  OpenMemory open;
  uint64_t wait = 0;
  order().begin_wait();
  while (operations-- != 0) {
    goals.erase(std::remove_if(goals.begin(), goals.end(), [](auto& op) { return op->done(); }), goals.end());
    if (goals.empty()) return;
    if (wait == 0 || remark_ || waits_ != wait) {
      remark_ = false;
      mark(goals);
      wait = waits_;
    }
    if (OpRef op = next())
      run(op);
    else
      DeviceLock::wait_for_progress();  // what is needed next waits for a callback of another thread
  }
}

void Queue::forget_all() {
  for (auto& op : pending_) {
    if (op->state == Op::State::Running) continue;
    op->state = Op::State::Done;
    op->after.clear();
    op->followers.clear();
    op->action = nullptr;
  }
  pending_.erase(std::remove_if(pending_.begin(), pending_.end(), [](auto& op) { return op->done(); }), pending_.end());
  for (size_t i = 0; i < pending_.size(); ++i) pending_[i]->place = i;
  ready_.clear();
  trace_.clear();
  fault_ = CUDA_SUCCESS;
}

// Stamp what the goals need, transitively.
void Queue::mark(const std::vector<OpRef>& goals) {
  ++waits_;
  std::vector<Op*> left;
  for (auto& op : goals) left.push_back(op.get());
  while (!left.empty()) {
    Op* op = left.back();
    left.pop_back();
    if (op->wanted == waits_) continue;
    op->wanted = waits_;
    for (auto& earlier : op->after)
      if (!earlier->done()) left.push_back(earlier.get());
  }
}

OpRef Queue::next() {
  std::vector<const Op*> candidates;
  bool needed = false;
  for (auto& op : ready_)
    if (op->wanted == waits_ || order().volunteers()) {
      candidates.push_back(op.get());
      needed |= op->wanted == waits_;
    }
  if (!needed && running_) return nullptr;
  if (candidates.empty()) return nullptr;
  return ready_[order().choose(candidates)->ready_place];
}

void Queue::run(const OpRef& op) {
  op->state = Op::State::Running;
  take(ready_, op->ready_place, &Op::ready_place);
  ActionRef action = op->action;
  CUresult result = CUDA_SUCCESS;
  if (action && fault_ == CUDA_SUCCESS) {  // after a fault nothing runs any more
    if (std::string name = action->name(); !name.empty()) trace_ += name + "\n";
    if (action->on_host()) {
      ++running_;
      ClosedMemory closed;
      {
        WithoutLock unlocked;
        callbacks().call_and_wait([&] { result = action->run(op); });
      }
      --running_;
      remark_ = true;
    } else {
      spawning_ = op->wanted;
      result = action->run(op);
      spawning_ = 0;
    }
  }
  if (result != CUDA_SUCCESS && fault_ == CUDA_SUCCESS) fault_ = result;
  finish(op);
}

void Queue::finish(const OpRef& op) {
  OpRef keep = op;
  op->state = Op::State::Done;
  op->finished = std::chrono::steady_clock::now();
  op->action = nullptr;
  op->after.clear();
  for (auto& later : op->followers)
    if (--later->waiting == 0 && !later->done()) make_ready(later);
  op->followers.clear();
  take(pending_, op->place, &Op::place);
  DeviceLock::announce_progress();
}

void Queue::make_ready(const OpRef& op) {
  op->ready_place = ready_.size();
  ready_.push_back(op);
}

void Queue::take(std::vector<OpRef>& list, size_t at, size_t Op::* place) {
  std::swap(list[at], list.back());
  (*list[at]).*place = at;
  list.pop_back();
}

}  // namespace eagle::emu
