#include "graph.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "actions.hpp"
#include "conditional.hpp"
#include "entry.hpp"

namespace eagle::emu {
namespace {

std::set<CUgraph> graphs;
std::set<CUgraphNode> nodes;
unsigned graph_ids = 0;
unsigned long long node_ids = 0;

void forget_node(CUgraphNode node) {
  if (node->child) destroy_graph(node->child);
  for (CUgraph body : node->bodies) destroy_graph(body);
  nodes.erase(node);
  delete node;
}

void own(CUgraphNode node, CUgraph child) {
  child->owner = node;
  node->child = child;
}

}  // namespace

CUgraph create_graph() {
  auto* graph = new CUgraph_st;
  graph->id = ++graph_ids;
  graphs.insert(graph);
  return graph;
}

bool graph_lives(CUgraph handle) { return graphs.count(handle); }

CUgraph find_graph(CUgraph handle) {
  require(graphs.count(handle), CUDA_ERROR_INVALID_VALUE);
  return handle;
}

CUgraphNode find_node(CUgraphNode handle) {
  require(nodes.count(handle), CUDA_ERROR_INVALID_VALUE);
  return handle;
}

void destroy_graph(CUgraph graph) {
  for (CUgraphNode node : graph->nodes) forget_node(node);
  graphs.erase(graph);
  delete graph;
}

CUgraph clone_graph(CUgraph source) {
  CUgraph graph = create_graph();
  graph->users = source->users;
  graph->conditions = source->conditions;
  std::map<CUgraphNode, CUgraphNode> twin;
  for (CUgraphNode node : source->nodes) {
    twin[node] = add_node(graph, node->action, {});
    twin[node]->origin = node;
    if (node->child) own(twin[node], clone_graph(node->child));
  }
  for (CUgraphNode node : source->nodes)
    for (CUgraphNode earlier : node->after) twin[node]->after.push_back(twin[earlier]);
  return graph;
}

CUgraph root_of(CUgraph graph) {
  while (graph->owner) graph = graph->owner->graph;
  return graph;
}

long live_graphs() {
  return std::count_if(graphs.begin(), graphs.end(), [](CUgraph graph) { return !graph->owner; });
}

CUgraphNode add_node(CUgraph graph, ActionRef action, std::vector<CUgraphNode> after) {
  auto* node = new CUgraphNode_st;
  node->id = ++node_ids;
  node->graph = graph;
  node->action = std::move(action);
  node->after = std::move(after);
  graph->nodes.push_back(node);
  nodes.insert(node);
  return node;
}

CUgraphNode add_child(CUgraph graph, std::vector<CUgraphNode> after, CUgraph child, bool move) {
  require(child != graph && root_of(graph) != child && !child->capturing, CUDA_ERROR_INVALID_VALUE);
  // cuGraphAddChildGraphNode: "If childGraph contains allocation nodes, free nodes, or conditional nodes, this call will
  // return an error." CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE lifts it for memory nodes, and wants a graph of its own.
  require(!holds(child, CU_GRAPH_NODE_TYPE_CONDITIONAL), CUDA_ERROR_INVALID_VALUE);
  require(move || !holds_memory_nodes(child), CUDA_ERROR_INVALID_VALUE);
  require(!move || !child->owner, CUDA_ERROR_INVALID_VALUE);
  CUgraph held = move ? child : clone_graph(child);  // "The child graph is cloned in this call"
  CUgraphNode node = add_node(graph, std::make_shared<ChildAction>(), std::move(after));
  own(node, held);
  return node;
}

void replace_child(CUgraphNode node, CUgraph child) {
  CUgraph held = clone_graph(child);
  destroy_graph(node->child);
  own(node, held);
}

void destroy_node(CUgraphNode node) {
  // cuGraphDestroyNode: "Nodes which belong to a graph which contains allocation or free nodes cannot be destroyed."
  require(!holds_memory_nodes(node->graph), CUDA_ERROR_INVALID_VALUE);
  require(!node->graph->capturing, CUDA_ERROR_INVALID_VALUE);
  auto& siblings = node->graph->nodes;
  for (CUgraphNode other : siblings)
    other->after.erase(std::remove(other->after.begin(), other->after.end(), node), other->after.end());
  siblings.erase(std::find(siblings.begin(), siblings.end(), node));
  forget_node(node);
}

std::vector<CUgraphNode> dependencies_of(CUgraph graph, const CUgraphNode* list, size_t count) {
  // cuGraphAddNode: dependencies are nodes of the same graph and "may not have any duplicate entries".
  require(!count || list, CUDA_ERROR_INVALID_VALUE);
  std::set<CUgraphNode> seen;
  for (size_t i = 0; i < count; ++i)
    require(find_node(list[i])->graph == graph && seen.insert(list[i]).second, CUDA_ERROR_INVALID_VALUE);
  return {list, list + count};
}

void refuse_edge_data(const CUgraphEdgeData* data, size_t count) {
  // Programmatic dependent launch is not emulated; a default edge is all zero.
  for (size_t i = 0; data && i < count; ++i)
    require(!data[i].from_port && !data[i].to_port && !data[i].type, CUDA_ERROR_NOT_SUPPORTED);
}

bool holds(CUgraph graph, CUgraphNodeType type) {
  return std::any_of(graph->nodes.begin(), graph->nodes.end(), [&](CUgraphNode node) {
    if (node->type() == type || (node->child && holds(node->child, type))) return true;
    return std::any_of(node->bodies.begin(), node->bodies.end(), [&](CUgraph body) { return holds(body, type); });
  });
}

bool holds_memory_nodes(CUgraph graph) {
  return holds(graph, CU_GRAPH_NODE_TYPE_MEM_ALLOC) || holds(graph, CU_GRAPH_NODE_TYPE_MEM_FREE);
}

std::vector<CUgraphNode> sorted_nodes(CUgraph graph) {
  std::map<CUgraphNode, size_t> waiting;
  std::map<CUgraphNode, std::vector<CUgraphNode>> followers;
  std::vector<CUgraphNode> sorted;
  for (CUgraphNode node : graph->nodes) {
    waiting[node] = node->after.size();
    for (CUgraphNode earlier : node->after) followers[earlier].push_back(node);
    if (node->after.empty()) sorted.push_back(node);
  }
  for (size_t i = 0; i < sorted.size(); ++i)
    for (CUgraphNode later : followers[sorted[i]])
      if (--waiting[later] == 0) sorted.push_back(later);
  require(sorted.size() == graph->nodes.size(), CUDA_ERROR_INVALID_VALUE);  // a graph has no cycles
  return sorted;
}

}  // namespace eagle::emu
