// What instantiation checks of a graph, and what the bodies of conditional nodes may hold.
#include "actions.hpp"
#include "conditional.hpp"
#include "entry.hpp"
#include "graph.hpp"
#include "kernel.hpp"
#include "transfer.hpp"

namespace eagle::emu {
namespace {

// CUDA_CONDITIONAL_NODE_PARAMS: "Allowed node types are kernel nodes, empty nodes, child graphs, memsets, memcopies, and
// conditionals. This applies recursively to child graphs and conditional bodies."
bool allowed_in_body(CUgraphNodeType type) {
  switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
    case CU_GRAPH_NODE_TYPE_EMPTY:
    case CU_GRAPH_NODE_TYPE_GRAPH:
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return true;
    default:
      return false;
  }
}

void validate_body(CUgraph graph, CUcontext context) {
  for (CUgraphNode node : graph->nodes) {
    require(allowed_in_body(node->type()), CUDA_ERROR_INVALID_VALUE);
    // Programming Guide, "Conditional Node Body Graph Requirements": copies may touch device memory and pinned host memory
    // only.
    auto* copy = dynamic_cast<const CopyAction*>(node->action.get());
    require(!copy || !copy->touches_pageable(), CUDA_ERROR_INVALID_VALUE);
    // CUDA_CONDITIONAL_NODE_PARAMS: "All kernels, including kernels in nested conditionals or child graphs at any level,
    // must belong to the same device context."
    auto* kernel = dynamic_cast<const KernelAction*>(node->action.get());
    require(!kernel || kernel->context() == context, CUDA_ERROR_INVALID_VALUE);
    if (node->child) validate_body(node->child, context);
  }
}

}  // namespace

void validate(CUgraph graph) {
  require(!graph->capturing, CUDA_ERROR_ILLEGAL_STATE);
  sorted_nodes(graph);
  // cuGraphConditionalHandleCreate: "Handles not associated with a conditional node may cause graph instantiation to
  // fail."
  for (auto& condition : graph->conditions) require(condition->used, CUDA_ERROR_INVALID_VALUE);
  for (CUgraphNode node : graph->nodes) {
    if (node->child) validate(node->child);
    for (CUgraph body : node->bodies) {
      validate_body(body, static_cast<const ConditionalAction&>(*node->action).condition()->context);
      validate(body);
    }
  }
}

}  // namespace eagle::emu
