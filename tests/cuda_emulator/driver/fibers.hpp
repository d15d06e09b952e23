// The threads of a block that meet at barriers, each on a stack of its own.
#pragma once
#include <functional>
#include <vector>

namespace eagle::emu {

// Runs body(i) for each i of `sequence`, in that order between two barriers and a drawn one after each. `entering` is
// called before a thread goes on.
void run_fibers(std::vector<unsigned>& sequence, const std::function<void(unsigned)>& body,
                const std::function<void(unsigned)>& entering);

// Called by a thread: let the others come here too.
void wait_at_barrier();

}  // namespace eagle::emu
