#include "fibers.hpp"

#include <ucontext.h>

#include <memory>

#include "order.hpp"

namespace eagle::emu {
namespace {

constexpr size_t stack_size = 64 << 10;

struct Fiber {
  ucontext_t context;
  std::unique_ptr<char[]> stack{new char[stack_size]};
  bool done;
};

// Kernels run one at a time, under the lock of the device; stacks are kept for the next block.
std::vector<std::unique_ptr<Fiber>> fibers;
ucontext_t scheduler;
Fiber* current = nullptr;
unsigned current_index = 0;
const std::function<void(unsigned)>* current_body = nullptr;

void begin_fiber() {
  (*current_body)(current_index);
  current->done = true;
  swapcontext(&current->context, &scheduler);
}

void prepare(Fiber& fiber) {
  fiber.done = false;
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack.get();
  fiber.context.uc_stack.ss_size = stack_size;
  fiber.context.uc_link = nullptr;
  makecontext(&fiber.context, begin_fiber, 0);
}

}  // namespace

void run_fibers(std::vector<unsigned>& sequence, const std::function<void(unsigned)>& body,
                const std::function<void(unsigned)>& entering) {
  while (fibers.size() < sequence.size()) fibers.push_back(std::make_unique<Fiber>());
  for (unsigned i : sequence) prepare(*fibers[i]);
  current_body = &body;
  for (bool left = true; left; order().shuffle(sequence)) {
    left = false;
    for (unsigned i : sequence) {
      current = fibers[i].get();
      if (current->done) continue;
      current_index = i;
      entering(i);
      swapcontext(&scheduler, &current->context);
      left |= !current->done;
    }
  }
  current = nullptr;
}

void wait_at_barrier() {
  Fiber* fiber = current;
  swapcontext(&fiber->context, &scheduler);
}

}  // namespace eagle::emu
