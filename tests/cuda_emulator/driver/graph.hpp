// Graphs as the program builds and edits them.
#pragma once
#include <cuda.h>

#include <memory>
#include <vector>

#include "action.hpp"
#include "user_object.hpp"

namespace eagle::emu {
struct Condition;
}

struct CUgraphNode_st {
  unsigned long long id = 0;
  CUgraph graph = nullptr;
  std::vector<CUgraphNode> after;
  eagle::emu::ActionRef action;
  CUgraph child = nullptr;          // of a child graph node
  std::vector<CUgraph> bodies;      // of a conditional node
  CUgraphNode origin = nullptr;     // what it was cloned from

  CUgraphNodeType type() const { return action->type(); }
};

struct CUgraph_st {
  unsigned id = 0;
  std::vector<CUgraphNode> nodes;
  CUgraphNode owner = nullptr;  // the node whose child or body this is
  bool capturing = false;
  bool instantiated = false;    // an executable of it lives (only counted where memory nodes forbid a second one)
  std::vector<std::shared_ptr<eagle::emu::Condition>> conditions;
  eagle::emu::UserObjects users;
};

namespace eagle::emu {

CUgraph create_graph();
CUgraph find_graph(CUgraph handle);
CUgraphNode find_node(CUgraphNode handle);
bool graph_lives(CUgraph handle);
void destroy_graph(CUgraph graph);
CUgraph clone_graph(CUgraph graph);
CUgraph root_of(CUgraph graph);
long live_graphs();  // those of the program: children and bodies belong to theirs

CUgraphNode add_node(CUgraph graph, ActionRef action, std::vector<CUgraphNode> after);
CUgraphNode add_child(CUgraph graph, std::vector<CUgraphNode> after, CUgraph child, bool move);
void replace_child(CUgraphNode node, CUgraph child);
void destroy_node(CUgraphNode node);

// The nodes of a list of dependencies, refused unless they are of the graph and differ.
std::vector<CUgraphNode> dependencies_of(CUgraph graph, const CUgraphNode* nodes, size_t count);
void refuse_edge_data(const CUgraphEdgeData* data, size_t count);
bool holds(CUgraph graph, CUgraphNodeType type);  // at any depth
bool holds_memory_nodes(CUgraph graph);

// What instantiation checks: no cycle, nothing being captured, handles used, bodies that hold what bodies may hold.
void validate(CUgraph graph);
// In an order that respects the edges; refused if there is a cycle.
std::vector<CUgraphNode> sorted_nodes(CUgraph graph);

}  // namespace eagle::emu
