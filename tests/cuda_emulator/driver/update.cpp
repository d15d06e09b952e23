// cuGraphExecUpdate: an executable takes over the parameters of a graph of the same shape.
#include "conditional.hpp"
#include "entry.hpp"
#include "kernel.hpp"
#include "plan.hpp"
#include "transfer.hpp"

namespace eagle::emu {
namespace {

[[noreturn]] void fail(CUgraphExecUpdateResultInfo& info, CUgraphExecUpdateResult result, CUgraphNode node) {
  info.result = result;
  info.errorNode = node;
  throw Refusal{CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE};
}

// The limits cuGraphExecUpdate lists: kernels keep their context; "for 2d memsets, only address and assigned value may be
// updated"; "changing either the source or destination memory type is not supported"; conditional nodes keep their kind.
bool may_become(const Action& old_action, const Action& new_action) {
  if (auto* old_kernel = dynamic_cast<const KernelAction*>(&old_action))
    return old_kernel->context() == static_cast<const KernelAction&>(new_action).context();
  if (auto* old_fill = dynamic_cast<const FillAction*>(&old_action))
    return old_fill->may_become(static_cast<const FillAction&>(new_action));
  if (auto* old_copy = dynamic_cast<const CopyAction*>(&old_action))
    return old_copy->same_memory(static_cast<const CopyAction&>(new_action));
  if (auto* old_conditional = dynamic_cast<const ConditionalAction*>(&old_action))
    return old_conditional->kind() == static_cast<const ConditionalAction&>(new_action).kind();
  return true;
}

void update(Plan& old_plan, const Plan& new_plan, CUgraphExecUpdateResultInfo& info) {
  if (old_plan.nodes.size() != new_plan.nodes.size()) fail(info, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, nullptr);
  for (size_t i = 0; i < old_plan.nodes.size(); ++i) {
    PlanNode& node = old_plan.nodes[i];
    const PlanNode& fresh = new_plan.nodes[i];
    if (node.action->type() != fresh.action->type())
      fail(info, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, fresh.source);
    if (node.after != fresh.after || node.bodies.size() != fresh.bodies.size())
      fail(info, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, fresh.source);
    if (!may_become(*node.action, *fresh.action))
      fail(info, CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED, fresh.source);
    if (node.child) update(*node.child, *fresh.child, info);
    for (size_t b = 0; b < node.bodies.size(); ++b) update(*node.bodies[b], *fresh.bodies[b], info);
    node.action = fresh.action;
  }
  old_plan.conditions = new_plan.conditions;
  old_plan.users = new_plan.users;
}

}  // namespace

void update_exec(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo& info) {
  info = {CU_GRAPH_EXEC_UPDATE_SUCCESS, nullptr, nullptr};
  std::shared_ptr<Plan> changed = exec->plan->copy();  // a failed update leaves no trace
  update(*changed, *compile(graph), info);
  exec->plan = changed;
}

}  // namespace eagle::emu
