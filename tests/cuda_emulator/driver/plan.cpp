#include "plan.hpp"

#include <set>

#include "conditional.hpp"
#include "entry.hpp"
#include "graph.hpp"

namespace eagle::emu {
namespace {
std::set<CUgraphExec> execs;
unsigned long long exec_ids = 0;

constexpr unsigned long long known_flags =
    CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
    CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY | CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
}  // namespace

std::shared_ptr<Plan> compile(CUgraph graph) {
  auto plan = std::make_shared<Plan>();
  std::map<CUgraphNode, unsigned> place;
  for (CUgraphNode node : sorted_nodes(graph)) {
    place[node] = plan->nodes.size();
    PlanNode planned;
    planned.source = node;
    planned.action = node->action;
    for (CUgraphNode earlier : node->after) {
      planned.after.push_back(place[earlier]);
      plan->nodes[place[earlier]].leaf = false;
    }
    if (node->child) planned.child = compile(node->child);
    for (CUgraph body : node->bodies) planned.bodies.push_back(compile(body));
    plan->nodes.push_back(std::move(planned));
  }
  plan->conditions = graph->conditions;
  for (PlanNode& node : plan->nodes) {
    std::vector<std::shared_ptr<Plan>> within = node.bodies;
    if (node.child) within.push_back(node.child);
    for (auto& inner : within)
      plan->conditions.insert(plan->conditions.end(), inner->conditions.begin(), inner->conditions.end());
  }
  plan->users = graph->users;
  return plan;
}

PlanNode* Plan::find(CUgraphNode source) {
  for (PlanNode& node : nodes) {
    if (node.source == source) return &node;
    if (node.child)
      if (PlanNode* found = node.child->find(source)) return found;
    for (auto& body : node.bodies)
      if (PlanNode* found = body->find(source)) return found;
  }
  return nullptr;
}

std::shared_ptr<Plan> Plan::copy() const {
  auto twin = std::make_shared<Plan>(*this);
  for (PlanNode& node : twin->nodes) {
    if (node.child) node.child = node.child->copy();
    for (auto& body : node.bodies) body = body->copy();
  }
  return twin;
}

CUgraphExec instantiate(CUgraph graph, unsigned long long flags) {
  require(!(flags & ~known_flags), CUDA_ERROR_INVALID_VALUE);
  // cuGraphInstantiate: device launch has rules of its own, which are not emulated.
  require(!(flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH), CUDA_ERROR_NOT_SUPPORTED);
  require(!graph->owner, CUDA_ERROR_INVALID_VALUE);  // children and bodies are not instantiated on their own
  validate(graph);
  // cuGraphInstantiate: "If hGraph contains any allocation or free nodes, there can be at most one executable graph in
  // existence for that graph at a time."
  bool memory = holds_memory_nodes(graph);
  require(!memory || !graph->instantiated, CUDA_ERROR_INVALID_VALUE);
  auto* exec = new CUgraphExec_st;
  exec->plan = compile(graph);
  exec->flags = flags;
  exec->id = ++exec_ids;
  exec->memory_graph = memory ? graph : nullptr;
  graph->instantiated = true;
  execs.insert(exec);
  return exec;
}

CUgraphExec find_exec(CUgraphExec handle) {
  require(execs.count(handle), CUDA_ERROR_INVALID_VALUE);
  return handle;
}

void destroy_exec(CUgraphExec exec) {
  // cuGraphExecDestroy: "If the executable graph is in-flight, it will not be terminated, but rather freed asynchronously
  // on completion": what is in flight holds the plan.
  if (exec->memory_graph && graph_lives(exec->memory_graph)) exec->memory_graph->instantiated = false;
  execs.erase(exec);
  delete exec;
}

long live_execs() { return execs.size(); }

PlanNode& editable_node(CUgraphExec exec, CUgraphNode source) {
  if (exec->plan.use_count() > 1) exec->plan = exec->plan->copy();
  PlanNode* node = exec->plan->find(source);
  require(node != nullptr, CUDA_ERROR_INVALID_VALUE);
  return *node;
}

}  // namespace eagle::emu
