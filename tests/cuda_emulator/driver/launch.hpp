// Launching an executable graph: its nodes become operations of the queue.
#pragma once
#include <memory>
#include <vector>

#include "plan.hpp"
#include "stream.hpp"

namespace eagle::emu {

void launch(CUgraphExec exec, CUstream stream);

// The operations of a plan, after `after`; returns those that nothing in it comes after.
std::vector<OpRef> expand(const std::shared_ptr<const Plan>& plan, const std::vector<OpRef>& after);

}  // namespace eagle::emu
