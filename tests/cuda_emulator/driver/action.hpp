// What an operation of a stream or a node of a graph does. Immutable once shared: changing a node's parameters gives it
// another action, so that launches in flight keep theirs.
#pragma once
#include <cuda.h>

#include <memory>
#include <string>

namespace eagle::emu {

struct Op;
using OpRef = std::shared_ptr<Op>;

class Action {
 public:
  virtual ~Action() = default;
  virtual CUgraphNodeType type() const { return CU_GRAPH_NODE_TYPE_EMPTY; }
  virtual std::string name() const { return ""; }  // empty: not worth a line in the trace
  virtual bool on_host() const { return false; }   // runs on the callback thread, without the lock
  virtual CUresult run(const OpRef&) const { return CUDA_SUCCESS; }
  // The parameters as cuGraphNodeGetParams gives them.
  virtual void describe(CUgraphNodeParams&) const {}
};

using ActionRef = std::shared_ptr<const Action>;

}  // namespace eagle::emu
