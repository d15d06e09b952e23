#include "launch.hpp"

#include "actions.hpp"
#include "capture.hpp"
#include "conditional.hpp"
#include "entry.hpp"
#include "graph.hpp"
#include "memory.hpp"

namespace eagle::emu {
namespace {

class BeginAction : public Action {
 public:
  explicit BeginAction(std::shared_ptr<const Plan> plan) : plan_(std::move(plan)) {}
  std::string name() const override { return "graph begins"; }
  CUresult run(const OpRef&) const override {
    for (auto& condition : plan_->conditions) condition->reset();
    return CUDA_SUCCESS;
  }

 private:
  std::shared_ptr<const Plan> plan_;
};

// Holds the plan, and with it user objects and modules, until the launch has ended.
class EndAction : public Action {
 public:
  explicit EndAction(std::shared_ptr<const Plan> plan) : plan_(std::move(plan)) {}

 private:
  std::shared_ptr<const Plan> plan_;
};

OpRef add_op(const std::shared_ptr<const PlanNode>& node, std::vector<OpRef> after) {
  if (!node->enabled) return queue().add(nullptr, after);
  switch (node->action->type()) {
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return queue().add(nullptr, expand({node, node->child.get()}, after));
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return enter_conditional(node, after);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      // cuGraphAddEventWaitNode: waits for the work captured in the event by its last record before the launch.
      after.push_back(static_cast<const EventAction&>(*node->action).event()->mark);
      return queue().add(nullptr, after);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: {
      EventRef event = static_cast<const EventAction&>(*node->action).event();
      event->captured = false;
      return event->mark = queue().add(nullptr, after);
    }
    default:
      return queue().add(node->action, after);
  }
}

// cuGraphAddMemAllocNode: memory that a launch allocates and does not free has to be freed before the next launch, unless
// the graph was instantiated to free it then.
void settle_graph_memory(CUgraphExec exec) {
  for (PlanNode& node : exec->plan->nodes) {
    if (node.action->type() != CU_GRAPH_NODE_TYPE_MEM_ALLOC) continue;
    CUdeviceptr address = static_cast<const AllocAction&>(*node.action).address();
    bool unfreed = exec->last && exec->last->done() && heap().find_mapped(address);
    require(!unfreed || exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH, CUDA_ERROR_INVALID_VALUE);
  }
}

}  // namespace

std::vector<OpRef> expand(const std::shared_ptr<const Plan>& plan, const std::vector<OpRef>& after) {
  std::vector<OpRef> ops, tails;
  for (const PlanNode& node : plan->nodes) {
    std::vector<OpRef> before;
    for (unsigned earlier : node.after) before.push_back(ops[earlier]);
    ops.push_back(add_op({plan, &node}, node.after.empty() ? after : before));
    if (node.leaf) tails.push_back(ops.back());
  }
  return tails.empty() ? after : tails;
}

void launch(CUgraphExec exec, CUstream stream) {
  // A graph launch on a capturing stream would become a child graph node of an executable whose graph may be gone; eagle
  // never does it, so it is refused.
  if (stream->capture) invalidate(*stream->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  settle_graph_memory(exec);
  std::shared_ptr<const Plan> plan = exec->plan;
  // cuGraphLaunch: "Each launch is ordered behind both any previous work in hStream and any previous launches of
  // hGraphExec."
  OpRef begin = enqueue(stream, std::make_shared<BeginAction>(plan), {exec->last});
  OpRef end = queue().add(std::make_shared<EndAction>(plan), expand(plan, {begin}));
  stream->tail = exec->last = end;
}

}  // namespace eagle::emu
