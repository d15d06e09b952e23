#include "kernel.hpp"

#include <algorithm>
#include <cstring>

#include "conditional.hpp"
#include "context.hpp"
#include "entry.hpp"
#include "faults.hpp"
#include "fibers.hpp"
#include "order.hpp"

namespace eagle::emu {
namespace {

// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
constexpr uint64_t most_threads = 1024, most_block_z = 64, most_grid_yz = 65535, most_grid_x = 0x7fffffff;

uint64_t volume(abi::Index i) { return uint64_t{i.x} * i.y * i.z; }

abi::Index unravel(uint64_t at, abi::Index size) {
  return {unsigned(at % size.x), unsigned(at / size.x % size.y), unsigned(at / size.x / size.y)};
}

void check_shape(const LaunchShape& shape, const Function& function) {
  require(volume(shape.grid) && volume(shape.block), CUDA_ERROR_INVALID_VALUE);
  bool block_fits = volume(shape.block) <= most_threads && shape.block.z <= most_block_z;
  bool grid_fits = shape.grid.x <= most_grid_x && shape.grid.y <= most_grid_yz && shape.grid.z <= most_grid_yz;
  require(block_fits && grid_fits, CUDA_ERROR_INVALID_VALUE);
  // cuFuncSetAttribute: more dynamic shared memory than the default has to be asked for.
  require(int(shape.shared) <= function.most_dynamic_shared, CUDA_ERROR_INVALID_VALUE);
}

// cuLaunchKernel: parameters come as an array of pointers, or packed in one buffer through `extra`, not both.
void take_values(const abi::Kernel& kernel, void** parameters, void** extra, std::vector<char>& values) {
  require(!(parameters && extra), CUDA_ERROR_INVALID_VALUE);
  if (!kernel.count) return;
  require(parameters || extra, CUDA_ERROR_INVALID_VALUE);
  if (parameters) {
    for (unsigned i = 0; i < kernel.count; ++i)
      memcpy(values.data() + kernel.offsets[i], parameters[i], kernel.sizes[i]);
    return;
  }
  const void* buffer = nullptr;
  size_t size = 0;
  for (void** item = extra; *item != CU_LAUNCH_PARAM_END; item += 2) {
    if (*item == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = item[1];
    if (*item == CU_LAUNCH_PARAM_BUFFER_SIZE) size = *static_cast<size_t*>(item[1]);
  }
  require(buffer && size >= values.size(), CUDA_ERROR_INVALID_VALUE);
  memcpy(values.data(), buffer, values.size());
}

void set_condition(unsigned long long handle, unsigned value) {
  ConditionRef condition = find_condition(handle);
  if (!condition) raise_fault();  // the graph of the handle is gone
  condition->value = value;
}

}  // namespace

KernelAction::KernelAction(Function& function, const LaunchShape& shape, void** parameters, void** extra)
    : image_(image_of(function)), function_(&function), shape_(shape) {
  check_shape(shape, function);
  const abi::Kernel& kernel = function.kernel;
  if (kernel.count) values_.resize(kernel.offsets[kernel.count - 1] + kernel.sizes[kernel.count - 1]);
  take_values(kernel, parameters, extra, values_);
  for (unsigned i = 0; i < kernel.count; ++i) parameters_.push_back(values_.data() + kernel.offsets[i]);
}

CUresult KernelAction::run(const OpRef&) const {
  return catching_faults(function_->name.c_str(), [this] {
    std::vector<uint64_t> blocks(volume(shape_.grid));
    std::vector<unsigned> threads(volume(shape_.block));
    for (size_t i = 0; i < blocks.size(); ++i) blocks[i] = i;
    for (size_t i = 0; i < threads.size(); ++i) threads[i] = i;
    order().shuffle(blocks);
    order().shuffle(threads);
    for (uint64_t block : blocks) {
      if (function_->kernel.has_barrier) order().shuffle(threads);
      run_block(unravel(block, shape_.grid), threads);
    }
  });
}

void KernelAction::run_block(abi::Index block, std::vector<unsigned>& sequence) const {
  std::vector<char> shared(shape_.shared, char(0xCB));
  auto thread = [&](unsigned i) {
    return abi::Thread{unravel(i, shape_.block), block, shape_.block, shape_.grid, shared.data()};
  };
  void** parameters = const_cast<void**>(parameters_.data());
  if (!function_->kernel.has_barrier) {
    for (unsigned i : sequence) {
      abi::Thread self = thread(i);
      image_->enter(&self);
      function_->kernel.call(parameters);
    }
    return;
  }
  std::vector<abi::Thread> threads(sequence.size());
  for (unsigned i : sequence) threads[i] = thread(i);
  run_fibers(
      sequence, [&](unsigned) { function_->kernel.call(parameters); },
      [&](unsigned i) { image_->enter(&threads[i]); });
}

void KernelAction::describe(CUgraphNodeParams& params) const {
  CUDA_KERNEL_NODE_PARAMS_v3& kernel = params.kernel;
  kernel.func = reinterpret_cast<CUfunction>(function_);
  kernel.gridDimX = shape_.grid.x;
  kernel.gridDimY = shape_.grid.y;
  kernel.gridDimZ = shape_.grid.z;
  kernel.blockDimX = shape_.block.x;
  kernel.blockDimY = shape_.block.y;
  kernel.blockDimZ = shape_.block.z;
  kernel.sharedMemBytes = shape_.shared;
  kernel.kernelParams = const_cast<void**>(parameters_.data());
  kernel.ctx = function_->context;
}

const abi::Services* kernel_services() {
  static constexpr abi::Services services = {wait_at_barrier, set_condition};
  return &services;
}

std::shared_ptr<KernelAction> kernel_action(const CUDA_KERNEL_NODE_PARAMS_v3& p) {
  CUfunction handle = p.func ? p.func : reinterpret_cast<CUfunction>(p.kern);
  LaunchShape shape{{p.gridDimX, p.gridDimY, p.gridDimZ}, {p.blockDimX, p.blockDimY, p.blockDimZ}, p.sharedMemBytes};
  return std::make_shared<KernelAction>(function_of(handle), shape, p.kernelParams, p.extra);
}

}  // namespace eagle::emu
