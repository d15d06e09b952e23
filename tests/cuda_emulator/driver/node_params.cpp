#include "node_params.hpp"

#include <cstring>

#include "actions.hpp"
#include "conditional.hpp"
#include "context.hpp"
#include "entry.hpp"
#include "graph.hpp"
#include "kernel.hpp"
#include "transfer.hpp"

namespace eagle::emu {
namespace {

CUgraphNodeParams of_type(CUgraphNodeType type) {
  CUgraphNodeParams params;
  memset(&params, 0, sizeof params);
  params.type = type;
  return params;
}

ActionRef alloc_action(const CUDA_MEM_ALLOC_NODE_PARAMS_v2& params) {
  require(params.bytesize > 0, CUDA_ERROR_INVALID_VALUE);
  require(params.poolProps.location.type == CU_MEM_LOCATION_TYPE_DEVICE, CUDA_ERROR_NOT_SUPPORTED);
  return std::make_shared<AllocAction>(params);
}

}  // namespace

ActionRef action_of(const CUgraphNodeParams& params) {
  switch (params.type) {
    case CU_GRAPH_NODE_TYPE_EMPTY: return std::make_shared<Action>();
    case CU_GRAPH_NODE_TYPE_KERNEL: return kernel_action(params.kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return std::make_shared<CopyAction>(params.memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET: return std::make_shared<FillAction>(params.memset);
    case CU_GRAPH_NODE_TYPE_HOST: return std::make_shared<HostAction>(params.host.fn, params.host.userData);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return std::make_shared<EventAction>(params.type, find_event(params.eventRecord.event));
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: return alloc_action(params.alloc);
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return std::make_shared<FreeAction>(params.free.dptr);
    default: throw Refusal{CUDA_ERROR_NOT_SUPPORTED};
  }
}

CUgraphNodeParams params_of(CUgraphNode node) {
  CUgraphNodeParams params = of_type(node->type());
  node->action->describe(params);
  if (node->child) {
    params.graph.graph = node->child;
    // "Set when params are queried to prevent accidentally reusing the driver-owned graph object".
    params.graph.ownership = CU_GRAPH_CHILD_GRAPH_OWNERSHIP_INVALID;
  }
  if (auto* conditional = dynamic_cast<const ConditionalAction*>(node->action.get())) {
    params.conditional.handle = conditional->condition()->handle;
    params.conditional.type = conditional->kind();
    params.conditional.size = node->bodies.size();
    params.conditional.phGraph_out = node->bodies.data();
    params.conditional.ctx = conditional->condition()->context;
  }
  return params;
}

// cuGraphNodeSetParams: "Modifying parameters is not supported for node types CU_GRAPH_NODE_TYPE_MEM_ALLOC and
// CU_GRAPH_NODE_TYPE_MEM_FREE"; the table of cuGraphExecNodeSetParams says so too, and has no conditional nodes.
bool settable(CUgraphNodeType type) {
  return type != CU_GRAPH_NODE_TYPE_MEM_ALLOC && type != CU_GRAPH_NODE_TYPE_MEM_FREE &&
         type != CU_GRAPH_NODE_TYPE_CONDITIONAL;
}

CUgraphNodeParams wrap(const CUDA_KERNEL_NODE_PARAMS& kernel) {
  static_assert(sizeof(CUDA_KERNEL_NODE_PARAMS) == sizeof(CUDA_KERNEL_NODE_PARAMS_v3));
  CUgraphNodeParams params = of_type(CU_GRAPH_NODE_TYPE_KERNEL);
  memcpy(&params.kernel, &kernel, sizeof kernel);
  return params;
}

CUgraphNodeParams wrap(const CUDA_MEMCPY3D& copy) {
  CUgraphNodeParams params = of_type(CU_GRAPH_NODE_TYPE_MEMCPY);
  params.memcpy.copyParams = copy;
  return params;
}

CUgraphNodeParams wrap(const CUDA_MEMSET_NODE_PARAMS& fill, CUcontext context) {
  CUgraphNodeParams params = of_type(CU_GRAPH_NODE_TYPE_MEMSET);
  params.memset = {fill.dst, fill.pitch, fill.value, fill.elementSize, fill.width, fill.height, context};
  return params;
}

CUgraphNodeParams wrap(const CUDA_HOST_NODE_PARAMS& host) {
  CUgraphNodeParams params = of_type(CU_GRAPH_NODE_TYPE_HOST);
  params.host.fn = host.fn;
  params.host.userData = host.userData;
  return params;
}

CUgraphNodeParams wrap(CUgraphNodeType type, CUevent event) {
  CUgraphNodeParams params = of_type(type);
  params.eventRecord.event = event;
  return params;
}

CUgraphNodeParams wrap_child(CUgraph child) {
  CUgraphNodeParams params = of_type(CU_GRAPH_NODE_TYPE_GRAPH);
  params.graph.graph = child;
  return params;
}

}  // namespace eagle::emu
