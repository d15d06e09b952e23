// Stream capture: streams that record into a graph, what joins them, and what is forbidden meanwhile.
#pragma once
#include <cuda.h>

#include <set>
#include <thread>
#include <vector>

#include "stream.hpp"

namespace eagle::emu {

struct Capture {
  unsigned long long id = 0;
  CUgraph graph = nullptr;
  bool owns_graph = false;  // begun without a graph of the program's
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  CUstream origin = nullptr;  // null once it has ended
  std::thread::id thread;
  std::set<CUstream> streams;
  bool valid = true;
  std::vector<CUgraphNode> left_behind;  // tips of forked streams that were destroyed
};

void begin_capture(CUstream stream, CUgraph graph, std::vector<CUgraphNode> after, CUstreamCaptureMode mode,
                   bool owns_graph);
CUgraph end_capture(CUstream stream);
CUgraphNode capture_node(CUstream stream, ActionRef action);
void leave_capture(CUstream stream);

void record_captured(CUstream stream, const EventRef& event);
// The stream captures, or the event was recorded in a capture.
void wait_captured(CUstream stream, const EventRef& event);

[[noreturn]] void invalidate(Capture& capture, CUresult code);
CUstreamCaptureStatus status_of(CUstream stream);
void refuse_legacy_use(CUcontext context);
void peek_legacy_use(CUcontext context);  // the same, and the captures stay valid
void refuse_while_capturing(CUstream stream);
void refuse_captured(const EventRef& event);
void refuse_context_wait();
// For calls that may synchronise or allocate behind the program's back.
void refuse_unsafe_call();

CUstreamCaptureMode exchange_mode(CUstreamCaptureMode mode);
long live_captures();
void abandon_captures();

}  // namespace eagle::emu
