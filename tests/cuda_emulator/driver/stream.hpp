// Streams and events: what an operation that is enqueued has to come after.
#pragma once
#include <cuda.h>

#include <memory>
#include <vector>

#include "queue.hpp"

namespace eagle::emu {
struct Capture;

// What an event stands for. Shared, because nodes and captures outlive the handle.
struct EventState {
  unsigned flags = 0;
  OpRef mark;                          // the last record that was enqueued
  bool captured = false;               // the last record was in a capture, and so it stands for `tips`
  std::weak_ptr<Capture> capture;
  std::vector<CUgraphNode> tips;
};
using EventRef = std::shared_ptr<EventState>;
}  // namespace eagle::emu

struct CUevent_st {
  eagle::emu::EventRef state;
  CUcontext context;
};

struct CUstream_st {
  enum class Kind { Created, Legacy, PerThread };

  Kind kind = Kind::Created;
  CUcontext context = nullptr;
  unsigned flags = 0;
  int priority = 0;
  unsigned long long id = 0;
  eagle::emu::OpRef tail;                         // the last operation enqueued
  std::shared_ptr<eagle::emu::Capture> capture;   // null unless it captures
  std::vector<CUgraphNode> tips;                  // what the next captured node depends on
  std::vector<CUgraphEdgeData> tip_edges;         // lent by cuStreamGetCaptureInfo

  bool blocking() const { return !(flags & CU_STREAM_NON_BLOCKING); }
};

namespace eagle::emu {

// The stream of a handle: 0, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD or one that lives.
CUstream find_stream(CUstream handle);
// The same, where the stream is to be used: refuses the legacy stream while a blocking stream captures.
CUstream use_stream(CUstream handle);
CUstream legacy_stream(CUcontext context);
void let_null_be_per_thread();

CUstream create_stream(unsigned flags, int priority);
void destroy_stream(CUstream stream);
long live_streams();

// What an operation enqueued on the stream now has to come after.
std::vector<OpRef> order_of(CUstream stream);
OpRef enqueue(CUstream stream, ActionRef action, std::vector<OpRef> also = {});
// Capture it if the stream captures, else enqueue it.
void submit(CUstream stream, ActionRef action);

CUevent create_event(unsigned flags);
void destroy_event(CUevent event);
CUevent find_event(CUevent handle);
long live_events();

}  // namespace eagle::emu
