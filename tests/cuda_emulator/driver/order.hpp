// Which of the operations that may run runs next. Every choice is legal; the kinds differ in which mistakes they find.
#pragma once
#include <cstdint>
#include <random>
#include <vector>

namespace eagle::emu {

struct Op;

class Order {
 public:
  void seed(unsigned number);

  // How often an operation that nobody waits for runs as well, drawn anew for each wait.
  void begin_wait();
  bool volunteers();

  uint64_t priority() { return random_(); }
  const Op* choose(const std::vector<const Op*>& candidates);
  unsigned below(unsigned bound) { return bound ? random_() % bound : 0; }

  template <class T>
  void shuffle(std::vector<T>& items) {
    for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random_() % i]);
  }

 private:
  // Newest: what was enqueued last goes first, so that a missing edge to it shows at once. Oldest: the other way round.
  // Priority: one random rank per operation, so that any one of n is held back to the end with chance 1/n, not 2^-n.
  // Uniform: a draw each time.
  enum class Kind { Newest, Priority, Uniform, Oldest };

  std::mt19937_64 random_{1};
  Kind kind_ = Kind::Priority;
  unsigned willing_ = 0;  // of 4
};

Order& order();

}  // namespace eagle::emu
