// Launching a kernel: its blocks and the threads of each in a drawn order.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "action.hpp"
#include "image.hpp"

namespace eagle::emu {

struct LaunchShape {
  abi::Index grid, block;
  unsigned shared;
};

class KernelAction : public Action {
 public:
  // Refuses shapes the device has not, and parameters that are missing.
  KernelAction(Function& function, const LaunchShape& shape, void** parameters, void** extra);
  CUgraphNodeType type() const override { return CU_GRAPH_NODE_TYPE_KERNEL; }
  std::string name() const override { return "kernel " + function_->name; }
  CUresult run(const OpRef&) const override;
  void describe(CUgraphNodeParams& params) const override;
  CUcontext context() const { return function_->context; }

 private:
  void run_block(abi::Index block, std::vector<unsigned>& order) const;

  std::shared_ptr<Image> image_;
  Function* function_;
  LaunchShape shape_;
  std::vector<char> values_;        // of the parameters
  std::vector<void*> parameters_;   // where each is in them
};

const abi::Services* kernel_services();

// The launch a node's parameters describe.
std::shared_ptr<KernelAction> kernel_action(const CUDA_KERNEL_NODE_PARAMS_v3& params);

}  // namespace eagle::emu
