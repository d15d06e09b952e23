// Between the parameters of a node as the program gives them and the action they stand for.
#pragma once
#include <cuda.h>

#include "action.hpp"

namespace eagle::emu {

// The action of parameters, but for child graph and conditional nodes, which hold graphs.
ActionRef action_of(const CUgraphNodeParams& params);
CUgraphNodeParams params_of(CUgraphNode node);
bool settable(CUgraphNodeType type);

// From the older structures, one per type.
CUgraphNodeParams wrap(const CUDA_KERNEL_NODE_PARAMS& kernel);
CUgraphNodeParams wrap(const CUDA_MEMCPY3D& copy);
CUgraphNodeParams wrap(const CUDA_MEMSET_NODE_PARAMS& fill, CUcontext context);
CUgraphNodeParams wrap(const CUDA_HOST_NODE_PARAMS& host);
CUgraphNodeParams wrap(CUgraphNodeType type, CUevent event);
CUgraphNodeParams wrap_child(CUgraph child);

}  // namespace eagle::emu
