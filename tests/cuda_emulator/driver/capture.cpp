#include "capture.hpp"

#include <algorithm>

#include "context.hpp"
#include "entry.hpp"
#include "graph.hpp"

namespace eagle::emu {
namespace {

using CaptureRef = std::shared_ptr<Capture>;

std::vector<CaptureRef> captures;  // in flight
unsigned long long capture_ids = 0;
thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

void merge_tips(std::vector<CUgraphNode>& tips, const std::vector<CUgraphNode>& more) {
  for (CUgraphNode node : more)
    if (std::find(tips.begin(), tips.end(), node) == tips.end()) tips.push_back(node);
}

void finish(const CaptureRef& capture) {
  capture->graph->capturing = false;
  for (CUstream stream : capture->streams) {
    stream->capture = nullptr;
    stream->tips.clear();
  }
  capture->origin = nullptr;
  captures.erase(std::find(captures.begin(), captures.end(), capture));
}

// Everything that was captured in forked streams has to lead to the origin's tips.
bool all_joined(const Capture& capture) {
  std::set<CUgraphNode> reached;
  std::vector<CUgraphNode> left = capture.origin->tips;
  while (!left.empty()) {
    CUgraphNode node = left.back();
    left.pop_back();
    if (reached.insert(node).second) left.insert(left.end(), node->after.begin(), node->after.end());
  }
  auto lost = [&](CUgraphNode node) { return !reached.count(node); };
  for (CUstream stream : capture.streams)
    if (std::any_of(stream->tips.begin(), stream->tips.end(), lost)) return false;
  return std::none_of(capture.left_behind.begin(), capture.left_behind.end(), lost);
}

}  // namespace

void begin_capture(CUstream stream, CUgraph graph, std::vector<CUgraphNode> after, CUstreamCaptureMode mode,
                   bool owns_graph) {
  // cuStreamBeginCapture: "Capture may not be initiated if stream is CU_STREAM_LEGACY."
  require(stream->kind != CUstream_st::Kind::Legacy, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  // The same: "it may only be initiated if the stream is not already in capture mode".
  require(!stream->capture, CUDA_ERROR_ILLEGAL_STATE);
  require(!graph->capturing, CUDA_ERROR_INVALID_VALUE);
  auto capture = std::make_shared<Capture>();
  capture->id = ++capture_ids;
  capture->graph = graph;
  capture->owns_graph = owns_graph;
  capture->mode = mode;
  capture->origin = stream;
  capture->thread = std::this_thread::get_id();
  capture->streams = {stream};
  graph->capturing = true;
  stream->capture = capture;
  stream->tips = std::move(after);
  captures.push_back(capture);
}

CUgraph end_capture(CUstream stream) {
  CaptureRef capture = stream->capture;
  require(capture != nullptr, CUDA_ERROR_ILLEGAL_STATE);  // cuStreamEndCapture: "Capture must have been initiated"
  // Programming Guide, "Cross-stream Dependencies and Events": capture is ended on its origin stream.
  if (capture->origin != stream) invalidate(*capture, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  // cuStreamBeginCapture: unless the mode is relaxed, "cuStreamEndCapture must be called on this stream from the same
  // thread".
  bool right_thread = capture->thread == std::this_thread::get_id();
  require(capture->mode == CU_STREAM_CAPTURE_MODE_RELAXED || right_thread, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  CUresult wrong = CUDA_SUCCESS;
  if (!capture->valid)
    wrong = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;  // "then a NULL graph will be returned"
  else if (!all_joined(*capture))
    wrong = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;  // "contains a fork that was not joined to the primary stream"
  CUgraph graph = capture->graph;
  finish(capture);
  if (wrong && capture->owns_graph) destroy_graph(graph);
  require(wrong == CUDA_SUCCESS, wrong);
  return graph;
}

CUgraphNode capture_node(CUstream stream, ActionRef action) {
  Capture& capture = *stream->capture;
  // Programming Guide, "Invalidation": further use of the streams of an invalidated capture is an error until it ends.
  require(capture.valid, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  CUgraphNode node = add_node(capture.graph, std::move(action), stream->tips);
  stream->tips = {node};
  return node;
}

// A stream of a capture is destroyed. The documentation does not forbid it; cuda.core does so with the streams it joins.
void leave_capture(CUstream stream) {
  CaptureRef capture = stream->capture;
  if (!capture) return;
  if (capture->origin == stream) {
    CUgraph graph = capture->graph;
    finish(capture);
    if (capture->owns_graph) destroy_graph(graph);
    return;
  }
  merge_tips(capture->left_behind, stream->tips);
  capture->streams.erase(stream);
}

void record_captured(CUstream stream, const EventRef& event) {
  require(stream->capture->valid, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  event->captured = true;
  event->capture = stream->capture;
  event->tips = stream->tips;
}

void wait_captured(CUstream stream, const EventRef& event) {
  CaptureRef capture = event->captured ? event->capture.lock() : nullptr;
  if (!event->captured)  // Programming Guide: a captured stream may not wait for an event that is not of the capture
    invalidate(*stream->capture, CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  // CUDA_ERROR_CAPTURED_EVENT: "not permitted on an event which was last recorded in a capturing stream". The capture
  // it belonged to is over, so there is nothing to join.
  if (!capture || !capture->origin) {
    if (stream->capture) invalidate(*stream->capture, CUDA_ERROR_CAPTURED_EVENT);
    throw Refusal{CUDA_ERROR_CAPTURED_EVENT};
  }
  // Programming Guide, "Prohibited and Unhandled Operations": two separate captures may not be merged.
  if (stream->capture && stream->capture != capture) {
    stream->capture->valid = false;
    invalidate(*capture, CUDA_ERROR_STREAM_CAPTURE_MERGE);
  }
  // The same: nor may the legacy stream join one.
  if (stream->kind == CUstream_st::Kind::Legacy) invalidate(*capture, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  require(capture->valid, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  if (!stream->capture) {  // Programming Guide, "Cross-stream Dependencies and Events": the waiting stream joins the capture
    stream->capture = capture;
    stream->tips.clear();
    capture->streams.insert(stream);
  }
  merge_tips(stream->tips, event->tips);
}

// Programming Guide, "Invalidation": an operation that is not valid in a capture invalidates the captures it concerns.
void invalidate(Capture& capture, CUresult code) {
  capture.valid = false;
  throw Refusal{code};
}

void refuse_legacy_use(CUcontext context) {
  // CUDA_ERROR_STREAM_CAPTURE_IMPLICIT and Programming Guide, "Prohibited and Unhandled Operations": while a stream that
  // was not created with CU_STREAM_NON_BLOCKING captures, any use of the legacy stream is invalid.
  for (auto& capture : captures)
    for (CUstream stream : capture->streams)
      if (stream->blocking() && stream->context == context) invalidate(*capture, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
}

void peek_legacy_use(CUcontext context) {
  for (auto& capture : captures)
    for (CUstream stream : capture->streams)
      require(!stream->blocking() || stream->context != context, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
}

CUstreamCaptureStatus status_of(CUstream stream) {
  if (!stream->capture) return CU_STREAM_CAPTURE_STATUS_NONE;
  return stream->capture->valid ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_INVALIDATED;
}

void refuse_while_capturing(CUstream stream) {
  // Same section: a stream that captures may not be synchronised or queried.
  if (stream->capture) invalidate(*stream->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

void refuse_captured(const EventRef& event) {
  // Same section: nor may a captured event, because neither stands for work that is scheduled to run.
  if (!event->captured) return;
  CaptureRef capture = event->capture.lock();
  if (capture && capture->origin) capture->valid = false;
  throw Refusal{CUDA_ERROR_CAPTURED_EVENT};
}

void refuse_context_wait() {
  // Same section: nor may a broader handle that encompasses a capture, such as a context, whatever the mode.
  if (captures.empty()) return;
  for (auto& capture : captures) capture->valid = false;
  throw Refusal{CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED};
}

void refuse_unsafe_call() {
  // cuThreadExchangeStreamCaptureMode: a thread in global mode may not make a potentially unsafe call while it has a
  // capture of its own that is not relaxed, or any other thread has a global one; in thread-local mode only the former
  // counts; in relaxed mode nothing does.
  if (thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED) return;
  bool refused = false;
  for (auto& capture : captures) {
    bool mine = capture->thread == std::this_thread::get_id();
    bool others = thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL && capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (mine ? capture->mode == CU_STREAM_CAPTURE_MODE_RELAXED : !others) continue;
    capture->valid = false;
    refused = true;
  }
  require(!refused, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

CUstreamCaptureMode exchange_mode(CUstreamCaptureMode mode) {
  std::swap(mode, thread_mode);
  return mode;
}

long live_captures() { return captures.size(); }

void abandon_captures() {
  while (!captures.empty()) leave_capture(captures.back()->origin);
}

}  // namespace eagle::emu
