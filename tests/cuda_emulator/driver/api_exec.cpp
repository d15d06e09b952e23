// Entry points: executable graphs.
#include "actions.hpp"
#include "capture.hpp"
#include "entry.hpp"
#include "graph.hpp"
#include "launch.hpp"
#include "node_params.hpp"
#include "plan.hpp"
#include "transfer.hpp"

using namespace eagle::emu;

namespace {

void set(CUgraphExec exec, CUgraphNode node, const CUgraphNodeParams& params) {
  PlanNode& planned = editable_node(find_exec(exec), node);
  // cuGraphExecNodeSetParams: "The node type specified by nodeParams->type must match the type of hNode."
  require(planned.action->type() == params.type, CUDA_ERROR_INVALID_VALUE);
  require(settable(params.type), CUDA_ERROR_NOT_SUPPORTED);
  if (params.type == CU_GRAPH_NODE_TYPE_GRAPH) {
    // cuGraphExecChildGraphNodeSetParams: the child's topology has to match that of the graph in the node.
    CUgraphExecUpdateResultInfo info{};
    CUgraphExec_st inner;
    inner.plan = planned.child;
    try {
      update_exec(&inner, find_graph(params.graph.graph), info);
    } catch (const Refusal&) {
      throw Refusal{CUDA_ERROR_INVALID_VALUE};  // the one failure in its list of return values
    }
    planned.child = inner.plan;
    return;
  }
  ActionRef action = action_of(params);
  // cuGraphExecMemcpyNodeSetParams: "Returns CUDA_ERROR_INVALID_VALUE if the memory operands' mappings changed or either
  // the original or new memory operands are multidimensional."
  if (auto* before = dynamic_cast<const CopyAction*>(planned.action.get())) {
    auto& after = static_cast<const CopyAction&>(*action);
    require(before->flat() && after.flat() && before->same_memory(after), CUDA_ERROR_INVALID_VALUE);
  }
  // cuGraphExecMemsetNodeSetParams says the same of the rows of a fill that has several.
  if (auto* before = dynamic_cast<const FillAction*>(planned.action.get()))
    require(before->may_become(static_cast<const FillAction&>(*action)), CUDA_ERROR_INVALID_VALUE);
  planned.action = action;
}

CUresult set_wrapped(const char* name, CUgraphExec exec, CUgraphNode node, const CUgraphNodeParams& params) {
  return enter(name, Needs::Initialised, [&] { set(exec, node, params); });
}

// cuGraphNodeSetEnabled: only kernel, memset and memcpy nodes may be switched off.
PlanNode& switchable(CUgraphExec exec, CUgraphNode handle) {
  PlanNode& node = editable_node(find_exec(exec), handle);
  CUgraphNodeType type = node.action->type();
  bool supported = type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMSET ||
                   type == CU_GRAPH_NODE_TYPE_MEMCPY;
  require(supported, CUDA_ERROR_INVALID_VALUE);
  return node;
}

}  // namespace

CUresult cuGraphInstantiate(CUgraphExec* out, CUgraph graph, unsigned long long flags) {
  return enter(__func__, Needs::Context, [&] {
    refuse_unsafe_call();  // it allocates on the device, which the documentation gives as the example of one
    *out = instantiate(find_graph(graph), flags);
  });
}

CUresult cuGraphInstantiateWithParams(CUgraphExec* out, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS* params) {
  params->hErrNode_out = nullptr;
  CUresult result = cuGraphInstantiateWithFlags(out, graph, params->flags);
  params->result_out = result ? CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE : CUDA_GRAPH_INSTANTIATE_SUCCESS;
  return result;
}

CUresult cuGraphExecGetFlags(CUgraphExec exec, cuuint64_t* flags) {
  return enter(__func__, Needs::Initialised, [&] { *flags = find_exec(exec)->flags; });
}

CUresult cuGraphExecGetId(CUgraphExec exec, unsigned* id) {
  return enter(__func__, Needs::Initialised, [&] { *id = find_exec(exec)->id; });
}

CUresult cuGraphUpload(CUgraphExec exec, CUstream stream) {
  return enter(__func__, Needs::Context, [&] {
    find_exec(exec);
    refuse_while_capturing(use_stream(stream));
  });
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  return enter(__func__, Needs::Context, [&] { launch(find_exec(exec), use_stream(stream)); });
}

CUresult cuGraphExecDestroy(CUgraphExec exec) {
  return enter(__func__, Needs::Initialised, [&] { destroy_exec(find_exec(exec)); });
}

CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo* info) {
  return enter(__func__, Needs::Initialised, [&] { update_exec(find_exec(exec), find_graph(graph), *info); });
}

CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams* params) {
  return set_wrapped(__func__, exec, node, *params);
}
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* params) {
  return set_wrapped(__func__, exec, node, wrap(*params));
}
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D* params, CUcontext) {
  return set_wrapped(__func__, exec, node, wrap(*params));
}
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* params,
                                        CUcontext context) {
  return set_wrapped(__func__, exec, node, wrap(*params, context));
}
CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_HOST_NODE_PARAMS* params) {
  return set_wrapped(__func__, exec, node, wrap(*params));
}
CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraph child) {
  return set_wrapped(__func__, exec, node, wrap_child(child));
}
CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
  return set_wrapped(__func__, exec, node, wrap(CU_GRAPH_NODE_TYPE_EVENT_RECORD, event));
}
CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
  return set_wrapped(__func__, exec, node, wrap(CU_GRAPH_NODE_TYPE_WAIT_EVENT, event));
}

CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned enabled) {
  return enter(__func__, Needs::Initialised, [&] { switchable(exec, node).enabled = enabled != 0; });
}
CUresult cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode node, unsigned* enabled) {
  return enter(__func__, Needs::Initialised, [&] { *enabled = switchable(exec, node).enabled; });
}
