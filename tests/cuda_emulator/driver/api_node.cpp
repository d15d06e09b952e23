// Entry points: nodes of graphs.
#include <cstring>

#include "actions.hpp"
#include "conditional.hpp"
#include "entry.hpp"
#include "graph.hpp"
#include "node_params.hpp"

using namespace eagle::emu;

namespace {

CUgraphNode add(CUgraph graph, const CUgraphNode* dependencies, size_t count, CUgraphNodeParams& params) {
  std::vector<CUgraphNode> after = dependencies_of(find_graph(graph), dependencies, count);
  switch (params.type) {
    case CU_GRAPH_NODE_TYPE_GRAPH: {
      bool move = params.graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
      return add_child(graph, std::move(after), find_graph(params.graph.graph), move);
    }
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: return add_conditional(graph, std::move(after), params.conditional);
    default: {
      ActionRef action = action_of(params);
      if (params.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) action->describe(params);  // tells the address
      return add_node(graph, std::move(action), std::move(after));
    }
  }
}

CUresult add_wrapped(const char* name, CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                     CUgraphNodeParams params) {
  return enter(name, Needs::Initialised, [&] { *out = add(graph, dependencies, count, params); });
}

CUgraphNode node_of(CUgraphNode handle, CUgraphNodeType type) {
  require(find_node(handle)->type() == type, CUDA_ERROR_INVALID_VALUE);
  return handle;
}

void set(CUgraphNode handle, CUgraphNodeParams& params) {
  // cuGraphNodeSetParams: "The node type specified by nodeParams->type must match the type of hNode."
  CUgraphNode node = node_of(handle, params.type);
  require(settable(params.type), CUDA_ERROR_NOT_SUPPORTED);
  if (params.type == CU_GRAPH_NODE_TYPE_GRAPH)
    replace_child(node, find_graph(params.graph.graph));
  else
    node->action = action_of(params);
}

CUresult set_wrapped(const char* name, CUgraphNode node, CUgraphNodeParams params) {
  return enter(name, Needs::Initialised, [&] { set(node, params); });
}

template <class Take>
CUresult get(const char* name, CUgraphNode node, CUgraphNodeType type, Take take) {
  return enter(name, Needs::Initialised, [&] { take(params_of(node_of(node, type))); });
}

}  // namespace

CUresult cuGraphAddNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, const CUgraphEdgeData* edges,
                        size_t count, CUgraphNodeParams* params) {
  return enter(__func__, Needs::Context, [&] {
    refuse_edge_data(edges, count);
    *out = add(graph, dependencies, count, *params);
  });
}

CUresult cuGraphAddNode_v3(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies,
                           const CUgraphEdgeData* edges, size_t count, CUgraphNodeParams* params) {
  return cuGraphAddNode_v2(out, graph, dependencies, edges, count, params);
}

CUresult cuGraphAddEmptyNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count) {
  CUgraphNodeParams params;
  memset(&params, 0, sizeof params);
  params.type = CU_GRAPH_NODE_TYPE_EMPTY;
  return add_wrapped(__func__, out, graph, dependencies, count, params);
}
CUresult cuGraphAddKernelNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                              const CUDA_KERNEL_NODE_PARAMS* params) {
  return add_wrapped(__func__, out, graph, dependencies, count, wrap(*params));
}
CUresult cuGraphAddMemcpyNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                              const CUDA_MEMCPY3D* params, CUcontext) {
  return add_wrapped(__func__, out, graph, dependencies, count, wrap(*params));
}
CUresult cuGraphAddMemsetNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                              const CUDA_MEMSET_NODE_PARAMS* params, CUcontext context) {
  return add_wrapped(__func__, out, graph, dependencies, count, wrap(*params, context));
}
CUresult cuGraphAddHostNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                            const CUDA_HOST_NODE_PARAMS* params) {
  return add_wrapped(__func__, out, graph, dependencies, count, wrap(*params));
}
CUresult cuGraphAddChildGraphNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                  CUgraph child) {
  return add_wrapped(__func__, out, graph, dependencies, count, wrap_child(child));
}
CUresult cuGraphAddEventRecordNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                   CUevent event) {
  return add_wrapped(__func__, out, graph, dependencies, count, wrap(CU_GRAPH_NODE_TYPE_EVENT_RECORD, event));
}
CUresult cuGraphAddEventWaitNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                 CUevent event) {
  return add_wrapped(__func__, out, graph, dependencies, count, wrap(CU_GRAPH_NODE_TYPE_WAIT_EVENT, event));
}
CUresult cuGraphAddMemAllocNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                CUDA_MEM_ALLOC_NODE_PARAMS* params) {
  return enter(__func__, Needs::Context, [&] {
    CUgraphNodeParams wrapped{};
    wrapped.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    static_assert(sizeof *params == sizeof wrapped.alloc);
    memcpy(&wrapped.alloc, params, sizeof *params);
    *out = add(graph, dependencies, count, wrapped);
    params->dptr = wrapped.alloc.dptr;
  });
}
CUresult cuGraphAddMemFreeNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                               CUdeviceptr address) {
  CUgraphNodeParams params{};
  params.type = CU_GRAPH_NODE_TYPE_MEM_FREE;
  params.free.dptr = address;
  return add_wrapped(__func__, out, graph, dependencies, count, params);
}

CUresult cuGraphDestroyNode(CUgraphNode node) {
  return enter(__func__, Needs::Initialised, [&] { destroy_node(find_node(node)); });
}
CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type) {
  return enter(__func__, Needs::Initialised, [&] { *type = find_node(node)->type(); });
}
CUresult cuGraphNodeGetContainingGraph(CUgraphNode node, CUgraph* graph) {
  return enter(__func__, Needs::Initialised, [&] { *graph = find_node(node)->graph; });
}
CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph* graph) {
  return enter(__func__, Needs::Initialised, [&] { *graph = node_of(node, CU_GRAPH_NODE_TYPE_GRAPH)->child; });
}

CUresult cuGraphNodeGetParams(CUgraphNode node, CUgraphNodeParams* params) {
  return enter(__func__, Needs::Initialised, [&] { *params = params_of(find_node(node)); });
}
CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* params) {
  return get(__func__, node, CU_GRAPH_NODE_TYPE_KERNEL,
             [&](const CUgraphNodeParams& all) { memcpy(params, &all.kernel, sizeof *params); });
}
CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D* params) {
  return get(__func__, node, CU_GRAPH_NODE_TYPE_MEMCPY,
             [&](const CUgraphNodeParams& all) { *params = all.memcpy.copyParams; });
}
CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* params) {
  return get(__func__, node, CU_GRAPH_NODE_TYPE_MEMSET,
             [&](const CUgraphNodeParams& all) { memcpy(params, &all.memset, sizeof *params); });
}
CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS* params) {
  return get(__func__, node, CU_GRAPH_NODE_TYPE_HOST,
             [&](const CUgraphNodeParams& all) { memcpy(params, &all.host, sizeof *params); });
}
CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent* event) {
  return get(__func__, node, CU_GRAPH_NODE_TYPE_EVENT_RECORD,
             [&](const CUgraphNodeParams& all) { *event = all.eventRecord.event; });
}
CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent* event) {
  return get(__func__, node, CU_GRAPH_NODE_TYPE_WAIT_EVENT,
             [&](const CUgraphNodeParams& all) { *event = all.eventWait.event; });
}
CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS* params) {
  return get(__func__, node, CU_GRAPH_NODE_TYPE_MEM_ALLOC,
             [&](const CUgraphNodeParams& all) { memcpy(params, &all.alloc, sizeof *params); });
}
CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr* address) {
  return get(__func__, node, CU_GRAPH_NODE_TYPE_MEM_FREE,
             [&](const CUgraphNodeParams& all) { *address = all.free.dptr; });
}

CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* params) {
  return set_wrapped(__func__, node, *params);
}
CUresult cuGraphNodeSetParams_v2(CUgraphNode node, CUgraphNodeParams* params) {
  return set_wrapped(__func__, node, *params);
}
CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* params) {
  return set_wrapped(__func__, node, wrap(*params));
}
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* params) {
  return set_wrapped(__func__, node, wrap(*params));
}
CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* params) {
  return set_wrapped(__func__, node, wrap(*params, nullptr));
}
CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS* params) {
  return set_wrapped(__func__, node, wrap(*params));
}
CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event) {
  return set_wrapped(__func__, node, wrap(CU_GRAPH_NODE_TYPE_EVENT_RECORD, event));
}
CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event) {
  return set_wrapped(__func__, node, wrap(CU_GRAPH_NODE_TYPE_WAIT_EVENT, event));
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, CUkernelNodeAttrID, CUkernelNodeAttrValue* value) {
  return enter(__func__, Needs::Initialised, [&] {
    node_of(node, CU_GRAPH_NODE_TYPE_KERNEL);
    memset(value, 0, sizeof *value);
  });
}
