#include "conditional.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

#include "context.hpp"
#include "control.hpp"
#include "entry.hpp"
#include "graph.hpp"
#include "launch.hpp"
#include "order.hpp"

namespace eagle::emu {
namespace {

constexpr long most_rounds = 1000000;
std::map<CUgraphConditionalHandle, std::weak_ptr<Condition>> conditions;
CUgraphConditionalHandle handles = 0x00C0DE0000000000;

// Looks at the condition; adds the operations of the body it chooses, and of a loop also the next look.
class LookAction : public Action {
 public:
  LookAction(std::shared_ptr<const PlanNode> node, OpRef end, long round) : node_(node), end_(end), round_(round) {}

  std::string name() const override { return "look " + std::to_string(action().condition()->value); }

  CUresult run(const OpRef&) const override {
    unsigned value = action().condition()->value;
    bool loop = action().kind() == CU_GRAPH_COND_TYPE_WHILE;
    size_t body = value;
    if (action().kind() != CU_GRAPH_COND_TYPE_SWITCH) body = value ? 0 : 1;
    if (body >= node_->bodies.size()) return CUDA_SUCCESS;
    if (round_ == most_rounds) {
      fprintf(stderr, "emulated CUDA device: a while node ran its body %ld times; given up\n", round_);
      return CUDA_ERROR_LAUNCH_TIMEOUT;
    }
    std::vector<OpRef> tails = expand({node_, node_->bodies[body].get()}, {});
    if (loop) tails = {queue().add(std::make_shared<LookAction>(node_, end_, round_ + 1), tails)};
    for (auto& tail : tails) queue().put_after(end_, tail);
    return CUDA_SUCCESS;
  }

 private:
  const ConditionalAction& action() const { return static_cast<const ConditionalAction&>(*node_->action); }

  std::shared_ptr<const PlanNode> node_;
  OpRef end_;
  long round_;
};

}  // namespace

void Condition::reset() {
  // CU_GRAPH_COND_ASSIGN_DEFAULT: "Default value is applied when graph is launched." Without it the value at the start is
  // undefined, so here it is drawn.
  value = flags & CU_GRAPH_COND_ASSIGN_DEFAULT ? initial : order().below(2);
}

ConditionRef create_condition(CUgraph graph, CUcontext context, unsigned initial, unsigned flags) {
  require(!(flags & ~CU_GRAPH_COND_ASSIGN_DEFAULT), CUDA_ERROR_INVALID_VALUE);
  auto condition = std::make_shared<Condition>();
  condition->handle = ++handles;
  condition->root = root_of(graph);
  condition->context = context ? context : current_context();
  condition->initial = initial;
  condition->flags = flags;
  conditions[condition->handle] = condition;
  graph->conditions.push_back(condition);
  return condition;
}

ConditionRef find_condition(CUgraphConditionalHandle handle) {
  auto found = conditions.find(handle);
  if (found == conditions.end()) return nullptr;
  ConditionRef condition = found->second.lock();
  if (!condition) conditions.erase(found);
  return condition;
}

CUgraphNode add_conditional(CUgraph graph, std::vector<CUgraphNode> after, CUDA_CONDITIONAL_NODE_PARAMS& params) {
  ConditionRef condition = find_condition(params.handle);
  // cuGraphConditionalHandleCreate: "The conditional handle must be associated with a conditional node in this graph or
  // one of its children", and with one only.
  require(condition && !condition->used && condition->root == root_of(graph), CUDA_ERROR_INVALID_VALUE);
  // CUDA_CONDITIONAL_NODE_PARAMS: ctx "must match context used to create the handle".
  CUcontext context = params.ctx ? params.ctx : current_context();
  require(condition->context == context, CUDA_ERROR_INVALID_VALUE);
  // The same, size: 1 for a while, 1 or 2 for an if, anything greater than zero for a switch.
  size_t most = params.type == CU_GRAPH_COND_TYPE_WHILE ? 1 : params.type == CU_GRAPH_COND_TYPE_IF ? 2 : 1u << 16;
  require(params.size > 0 && params.size <= most, CUDA_ERROR_INVALID_VALUE);
  // CUDA 12.8 release notes: IF nodes gained an else body, and SWITCH nodes came.
  bool recent = params.type == CU_GRAPH_COND_TYPE_SWITCH || (params.type == CU_GRAPH_COND_TYPE_IF && params.size == 2);
  require(!recent || driver_version() >= 12080, CUDA_ERROR_INVALID_VALUE);
  condition->used = true;
  CUgraphNode node = add_node(graph, std::make_shared<ConditionalAction>(condition, params.type), std::move(after));
  for (unsigned i = 0; i < params.size; ++i) {
    node->bodies.push_back(create_graph());
    node->bodies.back()->owner = node;
  }
  params.phGraph_out = node->bodies.data();
  return node;
}

OpRef enter_conditional(std::shared_ptr<const PlanNode> node, const std::vector<OpRef>& after) {
  OpRef mark = queue().add(nullptr, after);
  OpRef end = queue().add(nullptr, {mark});
  OpRef look = queue().add(std::make_shared<LookAction>(node, end, 0), after);
  queue().put_after(end, look);
  return end;
}

}  // namespace eagle::emu
