// The small actions: marks for child graphs, events, functions of the host, memory nodes.
#pragma once
#include <string>
#include <utility>

#include "action.hpp"
#include "context.hpp"
#include "memory.hpp"
#include "stream.hpp"

namespace eagle::emu {

// What a child graph holds runs as nodes of its own; this stands for their end.
class ChildAction : public Action {
 public:
  CUgraphNodeType type() const override { return CU_GRAPH_NODE_TYPE_GRAPH; }
};

class EventAction : public Action {
 public:
  EventAction(CUgraphNodeType type, CUevent handle) : type_(type), handle_(handle), event_(handle->state) {}
  CUgraphNodeType type() const override { return type_; }
  const EventRef& event() const { return event_; }
  void describe(CUgraphNodeParams& params) const override {
    params.eventRecord.event = handle_;  // the same place for a record and a wait
  }

 private:
  CUgraphNodeType type_;
  CUevent handle_;
  EventRef event_;
};

class HostAction : public Action {
 public:
  HostAction(CUhostFn function, void* argument) : function_(function), argument_(argument) {}
  CUgraphNodeType type() const override { return CU_GRAPH_NODE_TYPE_HOST; }
  std::string name() const override { return "host"; }
  bool on_host() const override { return true; }
  CUresult run(const OpRef&) const override {
    function_(argument_);
    return CUDA_SUCCESS;
  }
  void describe(CUgraphNodeParams& params) const override {
    params.host.fn = function_;
    params.host.userData = argument_;
  }

 private:
  CUhostFn function_;
  void* argument_;
};

// Memory of a graph: the address is fixed when the node is made, the memory is there from the node's run to the free node's.
class GraphMemory {
 public:
  explicit GraphMemory(size_t bytes)
      : address(heap().allocate(bytes, MemoryKind::Device, current_context(), false)) {}
  ~GraphMemory() {
    if (!heap().find(address)) return;  // the program freed it
    heap().give_back(address);
    heap().release(address);
  }
  GraphMemory(const GraphMemory&) = delete;

  const uint64_t address;
};

class AllocAction : public Action {
 public:
  explicit AllocAction(CUDA_MEM_ALLOC_NODE_PARAMS_v2 asked)
      : memory_(std::make_shared<GraphMemory>(asked.bytesize)), params_(asked) {
    params_.dptr = memory_->address;
  }
  CUgraphNodeType type() const override { return CU_GRAPH_NODE_TYPE_MEM_ALLOC; }
  std::string name() const override { return "alloc"; }
  CUresult run(const OpRef&) const override {
    heap().set_resident(params_.dptr, true);
    return CUDA_SUCCESS;
  }
  void describe(CUgraphNodeParams& params) const override { params.alloc = params_; }
  CUdeviceptr address() const { return params_.dptr; }

 private:
  std::shared_ptr<GraphMemory> memory_;
  CUDA_MEM_ALLOC_NODE_PARAMS_v2 params_;
};

class FreeAction : public Action {
 public:
  explicit FreeAction(CUdeviceptr address) : address_(address) {}
  CUgraphNodeType type() const override { return CU_GRAPH_NODE_TYPE_MEM_FREE; }
  std::string name() const override { return "free"; }
  CUresult run(const OpRef&) const override {
    heap().set_resident(address_, false);
    return CUDA_SUCCESS;
  }
  void describe(CUgraphNodeParams& params) const override { params.free.dptr = address_; }

 private:
  CUdeviceptr address_;
};

// Memory that the program has freed while work was in flight goes when that is done.
class ReleaseAction : public Action {
 public:
  explicit ReleaseAction(CUdeviceptr address) : address_(address) {}
  std::string name() const override { return "release"; }
  CUresult run(const OpRef&) const override {
    heap().release(address_);
    return CUDA_SUCCESS;
  }

 private:
  CUdeviceptr address_;
};

}  // namespace eagle::emu
