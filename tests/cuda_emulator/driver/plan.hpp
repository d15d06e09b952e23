// An executable graph: a copy of the graph's actions in an order to launch them, independent of the graph.
#pragma once
#include <cuda.h>

#include <map>
#include <memory>
#include <vector>

#include "action.hpp"
#include "queue.hpp"
#include "user_object.hpp"

namespace eagle::emu {

struct Plan;
struct Condition;

struct PlanNode {
  CUgraphNode source = nullptr;  // only a name: the graph may be gone
  ActionRef action;
  std::vector<unsigned> after;   // places in the plan, all smaller
  bool leaf = true;
  bool enabled = true;
  std::shared_ptr<Plan> child;
  std::vector<std::shared_ptr<Plan>> bodies;
};

struct Plan {
  std::vector<PlanNode> nodes;
  std::vector<std::shared_ptr<Condition>> conditions;  // of this plan and all within
  UserObjects users;

  PlanNode* find(CUgraphNode source);  // at any depth, null if it is not there
  std::shared_ptr<Plan> copy() const;  // deep
};

std::shared_ptr<Plan> compile(CUgraph graph);

}  // namespace eagle::emu

struct CUgraphExec_st {
  std::shared_ptr<eagle::emu::Plan> plan;
  unsigned long long flags = 0;
  unsigned long long id = 0;
  CUgraph memory_graph = nullptr;  // the graph, if it holds memory nodes
  eagle::emu::OpRef last;          // the end of the last launch
};

namespace eagle::emu {

CUgraphExec instantiate(CUgraph graph, unsigned long long flags);
CUgraphExec find_exec(CUgraphExec handle);
void destroy_exec(CUgraphExec exec);
long live_execs();

// The executable's node of a node of the graph, ready to be changed: launches in flight keep the plan they began with.
PlanNode& editable_node(CUgraphExec exec, CUgraphNode source);

void update_exec(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo& info);

}  // namespace eagle::emu
