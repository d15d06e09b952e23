// Conditional nodes: the value a kernel sets, and the bodies it lets run.
#pragma once
#include <cuda.h>

#include <memory>

#include "action.hpp"
#include "plan.hpp"

namespace eagle::emu {

struct Condition {
  CUgraphConditionalHandle handle = 0;
  CUgraph root = nullptr;  // the graph it was made for, with all its children and bodies
  CUcontext context = nullptr;
  unsigned initial = 0, flags = 0;
  bool used = false;  // by a node
  unsigned value = 0;

  void reset();  // at each launch
};
using ConditionRef = std::shared_ptr<Condition>;

ConditionRef create_condition(CUgraph graph, CUcontext context, unsigned initial, unsigned flags);
ConditionRef find_condition(CUgraphConditionalHandle handle);  // null if it is gone
CUgraphNode add_conditional(CUgraph graph, std::vector<CUgraphNode> after, CUDA_CONDITIONAL_NODE_PARAMS& params);

class ConditionalAction : public Action {
 public:
  ConditionalAction(ConditionRef condition, CUgraphConditionalNodeType kind) : condition_(condition), kind_(kind) {}
  CUgraphNodeType type() const override { return CU_GRAPH_NODE_TYPE_CONDITIONAL; }
  const ConditionRef& condition() const { return condition_; }
  CUgraphConditionalNodeType kind() const { return kind_; }

 private:
  ConditionRef condition_;
  CUgraphConditionalNodeType kind_;
};

// The operations of a conditional node of a launch, after `after`; the one returned is done when the node is.
OpRef enter_conditional(std::shared_ptr<const PlanNode> node, const std::vector<OpRef>& after);

}  // namespace eagle::emu
