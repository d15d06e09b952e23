// Copies and fills.
#pragma once
#include <memory>
#include <vector>

#include "action.hpp"

namespace eagle::emu {

class CopyAction : public Action {
 public:
  // Refuses what reaches outside an allocation, arrays, and extents of zero width are nothing.
  explicit CopyAction(const CUDA_MEMCPY3D& copy);
  CUgraphNodeType type() const override { return CU_GRAPH_NODE_TYPE_MEMCPY; }
  std::string name() const override { return "memcpy"; }
  CUresult run(const OpRef&) const override;
  void describe(CUgraphNodeParams& params) const override;

  bool touches_pageable() const;
  bool flat() const { return copy_.Height <= 1 && copy_.Depth <= 1; }
  bool same_memory(const CopyAction& other) const;  // the same kinds on both sides
  // The same with the host's values as they are now.
  std::shared_ptr<const CopyAction> staged() const;

 private:
  CUDA_MEMCPY3D copy_;
  std::shared_ptr<std::vector<char>> stage_;
};

class FillAction : public Action {
 public:
  explicit FillAction(const CUDA_MEMSET_NODE_PARAMS_v2& fill);
  CUgraphNodeType type() const override { return CU_GRAPH_NODE_TYPE_MEMSET; }
  std::string name() const override { return "memset"; }
  CUresult run(const OpRef&) const override;
  void describe(CUgraphNodeParams& params) const override { params.memset = fill_; }
  // Whether a node of an executable may take the other for its own: of several rows only address and value change.
  bool may_become(const FillAction& other) const;

 private:
  CUDA_MEMSET_NODE_PARAMS_v2 fill_;
};

// A copy of so many bytes whose kinds of memory follow from the addresses.
CUDA_MEMCPY3D linear_copy(uint64_t to, uint64_t from, size_t bytes);

}  // namespace eagle::emu
