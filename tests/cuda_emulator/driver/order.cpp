#include "order.hpp"

#include <algorithm>

#include "queue.hpp"

namespace eagle::emu {

Order& order() {
  static Order instance;
  return instance;
}

void Order::seed(unsigned number) {
  std::seed_seq mixed{number, 0x9e3779b9u};  // the generator's first numbers are alike for seeds that are
  random_.seed(mixed);
  kind_ = static_cast<Kind>(number % 4);
}

void Order::begin_wait() {
  static constexpr unsigned choices[] = {0, 1, 4};
  willing_ = choices[below(3)];
}

bool Order::volunteers() { return below(4) < willing_; }

const Op* Order::choose(const std::vector<const Op*>& candidates) {
  if (kind_ == Kind::Uniform) return candidates[below(candidates.size())];
  auto rank = [this](const Op* op) {
    return kind_ == Kind::Newest ? op->id : kind_ == Kind::Oldest ? ~op->id : op->priority;
  };
  return *std::max_element(candidates.begin(), candidates.end(),
                           [&](const Op* a, const Op* b) { return rank(a) < rank(b); });
}

}  // namespace eagle::emu
