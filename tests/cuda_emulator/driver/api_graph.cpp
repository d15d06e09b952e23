// Entry points: graphs, their edges, what they hold.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "conditional.hpp"
#include "context.hpp"
#include "entry.hpp"
#include "graph.hpp"
#include "node_params.hpp"
#include "user_object.hpp"

using namespace eagle::emu;

namespace {

// cuGraphGetNodes: a null array asks for the number; an array too long is filled up with null, one too short gets what
// fits.
void give(const std::vector<CUgraphNode>& nodes, CUgraphNode* out, size_t* count) {
  if (out) {
    for (size_t i = 0; i < *count; ++i) out[i] = i < nodes.size() ? nodes[i] : nullptr;
    *count = std::min(*count, nodes.size());
  } else {
    *count = nodes.size();
  }
}

void give_edge_data(CUgraphEdgeData* data, size_t count) {
  if (data) memset(data, 0, count * sizeof *data);
}

std::vector<CUgraphNode> followers(CUgraphNode node) {
  std::vector<CUgraphNode> found;
  for (CUgraphNode other : node->graph->nodes)
    if (std::count(other->after.begin(), other->after.end(), node)) found.push_back(other);
  return found;
}

bool has_edge(CUgraphNode from, CUgraphNode to) { return std::count(to->after.begin(), to->after.end(), from); }

void check_edges(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, size_t count, bool present) {
  require(!count || (from && to), CUDA_ERROR_INVALID_VALUE);
  for (size_t i = 0; i < count; ++i) {
    require(find_node(from[i])->graph == graph && find_node(to[i])->graph == graph, CUDA_ERROR_INVALID_VALUE);
    // cuGraphAddDependencies: "Specifying an existing dependency will return an error"; removing one that is not, too.
    require(has_edge(from[i], to[i]) == present && from[i] != to[i], CUDA_ERROR_INVALID_VALUE);
  }
}

}  // namespace

CUresult cuGraphCreate(CUgraph* out, unsigned flags) {
  return enter(__func__, Needs::Initialised, [&] {
    require(flags == 0, CUDA_ERROR_INVALID_VALUE);
    *out = create_graph();
  });
}

CUresult cuGraphDestroy(CUgraph graph) {
  return enter(__func__, Needs::Initialised, [&] {
    // Children and bodies belong to their nodes; a graph that is captured into belongs to the capture meanwhile.
    require(!find_graph(graph)->owner && !graph->capturing, CUDA_ERROR_INVALID_VALUE);
    destroy_graph(graph);
  });
}

CUresult cuGraphClone(CUgraph* out, CUgraph graph) {
  return enter(__func__, Needs::Initialised, [&] {
    // cuGraphClone: "Cloning is not supported for graphs which contain memory allocation nodes, memory free nodes, or
    // conditional nodes."
    require(!holds_memory_nodes(find_graph(graph)), CUDA_ERROR_INVALID_VALUE);
    require(!holds(graph, CU_GRAPH_NODE_TYPE_CONDITIONAL) && !graph->capturing, CUDA_ERROR_INVALID_VALUE);
    *out = clone_graph(graph);
  });
}

CUresult cuGraphNodeFindInClone(CUgraphNode* out, CUgraphNode original, CUgraph clone) {
  return enter(__func__, Needs::Initialised, [&] {
    *out = nullptr;
    for (CUgraphNode node : find_graph(clone)->nodes)
      if (node->origin == original) *out = node;
    require(*out != nullptr, CUDA_ERROR_INVALID_VALUE);
  });
}

CUresult cuGraphGetId(CUgraph graph, unsigned* id) {
  return enter(__func__, Needs::Initialised, [&] { *id = find_graph(graph)->id; });
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* out, size_t* count) {
  return enter(__func__, Needs::Initialised, [&] { give(find_graph(graph)->nodes, out, count); });
}

CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode* out, size_t* count) {
  return enter(__func__, Needs::Initialised, [&] {
    std::vector<CUgraphNode> roots;
    for (CUgraphNode node : find_graph(graph)->nodes)
      if (node->after.empty()) roots.push_back(node);
    give(roots, out, count);
  });
}

CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data, size_t* count) {
  return enter(__func__, Needs::Initialised, [&] {
    std::vector<CUgraphNode> starts, ends;
    for (CUgraphNode node : find_graph(graph)->nodes)
      for (CUgraphNode earlier : node->after) {
        starts.push_back(earlier);
        ends.push_back(node);
      }
    size_t room = *count;
    give(ends, to, &room);
    give(starts, from, count);
    if (from) give_edge_data(data, *count);
  });
}

CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode* out, CUgraphEdgeData* data, size_t* count) {
  return enter(__func__, Needs::Initialised, [&] {
    give(find_node(node)->after, out, count);
    if (out) give_edge_data(data, *count);
  });
}

CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode* out, CUgraphEdgeData* data, size_t* count) {
  return enter(__func__, Needs::Initialised, [&] {
    give(followers(find_node(node)), out, count);
    if (out) give_edge_data(data, *count);
  });
}

CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                const CUgraphEdgeData* data, size_t count) {
  return enter(__func__, Needs::Initialised, [&] {
    refuse_edge_data(data, count);
    check_edges(find_graph(graph), from, to, count, false);
    for (size_t i = 0; i < count; ++i) to[i]->after.push_back(from[i]);
  });
}

CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData* data, size_t count) {
  return enter(__func__, Needs::Initialised, [&] {
    refuse_edge_data(data, count);
    check_edges(find_graph(graph), from, to, count, true);
    // cuGraphRemoveDependencies: "Dependencies cannot be removed from graphs which contain allocation or free nodes."
    require(!holds_memory_nodes(graph), CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < count; ++i) {
      auto& after = to[i]->after;
      after.erase(std::find(after.begin(), after.end(), from[i]));
    }
  });
}

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle* out, CUgraph graph, CUcontext context,
                                        unsigned initial, unsigned flags) {
  return enter(__func__, Needs::Context,
               [&] { *out = create_condition(find_graph(graph), context, initial, flags)->handle; });
}

CUresult cuGraphDebugDotPrint(CUgraph graph, const char* path, unsigned) {
  return enter(__func__, Needs::Initialised, [&] {
    FILE* file = fopen(path, "w");
    require(find_graph(graph) && file, CUDA_ERROR_INVALID_VALUE);
    fprintf(file, "digraph graph_%u {\n", graph->id);
    for (CUgraphNode node : graph->nodes) {
      fprintf(file, "  n%llu [label=\"%d %s\"];\n", node->id, node->type(), node->action->name().c_str());
      for (CUgraphNode earlier : node->after) fprintf(file, "  n%llu -> n%llu;\n", earlier->id, node->id);
    }
    fprintf(file, "}\n");
    fclose(file);
  });
}

CUresult cuUserObjectCreate(CUuserObject* out, void* pointer, CUhostFn destroy, unsigned references, unsigned flags) {
  return enter(__func__, Needs::Initialised, [&] {
    // CU_USER_OBJECT_NO_DESTRUCTOR_SYNC: "Indicates the destructor execution is not synchronized"; the one flag there is.
    require(flags == CU_USER_OBJECT_NO_DESTRUCTOR_SYNC, CUDA_ERROR_INVALID_VALUE);
    *out = create_user_object(pointer, destroy, references);
  });
}

CUresult cuUserObjectRetain(CUuserObject object, unsigned count) {
  return enter(__func__, Needs::Initialised, [&] { retain_user_object(find_user_object(object), count); });
}

CUresult cuUserObjectRelease(CUuserObject object, unsigned count) {
  return enter(__func__, Needs::Initialised, [&] { release_user_object(find_user_object(object), count); });
}

CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned count, unsigned flags) {
  return enter(__func__, Needs::Initialised, [&] {
    find_graph(graph);
    find_user_object(object);
    // CU_GRAPH_USER_OBJECT_MOVE: "Transfer references from the caller rather than creating new references."
    if (!(flags & CU_GRAPH_USER_OBJECT_MOVE)) retain_user_object(object, count);
    graph->users.adopt(object, count);
  });
}

CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned count) {
  return enter(__func__, Needs::Initialised, [&] { find_graph(graph)->users.release(object, count); });
}
