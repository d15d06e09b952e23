// Entry points: stream capture.
#include <algorithm>

#include "capture.hpp"
#include "context.hpp"
#include "entry.hpp"
#include "graph.hpp"

using namespace eagle::emu;

CUresult cuStreamBeginCapture(CUstream handle, CUstreamCaptureMode mode) {
  return enter(__func__, Needs::Context, [&] {
    CUstream stream = find_stream(handle);
    CUgraph graph = create_graph();
    try {
      begin_capture(stream, graph, {}, mode, true);
    } catch (...) {
      destroy_graph(graph);
      throw;
    }
  });
}

CUresult cuStreamBeginCaptureToGraph(CUstream handle, CUgraph graph, const CUgraphNode* dependencies,
                                     const CUgraphEdgeData* edges, size_t count, CUstreamCaptureMode mode) {
  return enter(__func__, Needs::Context, [&] {
    refuse_edge_data(edges, count);
    std::vector<CUgraphNode> after = dependencies_of(find_graph(graph), dependencies, count);
    begin_capture(find_stream(handle), graph, std::move(after), mode, false);
  });
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph* out) {
  return enter(__func__, Needs::Initialised, [&] {
    if (out) *out = nullptr;
    CUgraph graph = end_capture(find_stream(handle));
    if (out) *out = graph;
  });
}

CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
  return enter(__func__, Needs::Initialised, [&] {
    // cuStreamIsCapturing: on the legacy stream while a blocking stream captures it "will return
    // CUDA_ERROR_STREAM_CAPTURE_IMPLICIT"; the capture is not invalidated.
    CUstream stream = find_stream(handle);
    if (stream->kind == CUstream_st::Kind::Legacy) peek_legacy_use(stream->context);
    *status = status_of(stream);
  });
}

CUresult cuStreamGetCaptureInfo(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                                const CUgraphNode** dependencies, const CUgraphEdgeData** edges, size_t* count) {
  return enter(__func__, Needs::Initialised, [&] {
    // cuStreamGetCaptureInfo: on CU_STREAM_LEGACY "while a stream not created with CU_STREAM_NON_BLOCKING is capturing,
    // returns CUDA_ERROR_STREAM_CAPTURE_IMPLICIT."
    CUstream stream = find_stream(handle);
    if (stream->kind == CUstream_st::Kind::Legacy) peek_legacy_use(stream->context);
    *status = status_of(stream);
    if (!stream->capture) return;
    stream->tip_edges.assign(stream->tips.size(), CUgraphEdgeData{});
    if (id) *id = stream->capture->id;
    if (graph) *graph = stream->capture->graph;
    if (dependencies) *dependencies = stream->tips.data();
    if (edges) *edges = stream->tip_edges.data();
    if (count) *count = stream->tips.size();
  });
}

extern "C" CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                                              CUgraph* graph, const CUgraphNode** dependencies, size_t* count) {
  return cuStreamGetCaptureInfo_v3(stream, status, id, graph, dependencies, nullptr, count);
}

extern "C" CUresult cuStreamGetCaptureInfo_v1(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id) {
  return cuStreamGetCaptureInfo_v3(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}

CUresult cuStreamUpdateCaptureDependencies(CUstream handle, CUgraphNode* dependencies, const CUgraphEdgeData* edges,
                                           size_t count, unsigned flags) {
  return enter(__func__, Needs::Context, [&] {
    CUstream stream = find_stream(handle);
    // "Returns CUDA_ERROR_ILLEGAL_STATE if the stream is not capturing."
    require(stream->capture != nullptr, CUDA_ERROR_ILLEGAL_STATE);
    require(stream->capture->valid, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    refuse_edge_data(edges, count);
    std::vector<CUgraphNode> tips = dependencies_of(stream->capture->graph, dependencies, count);
    if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES) stream->tips.clear();
    for (CUgraphNode node : tips)
      if (std::find(stream->tips.begin(), stream->tips.end(), node) == stream->tips.end()) stream->tips.push_back(node);
  });
}

extern "C" CUresult cuStreamUpdateCaptureDependencies_v1(CUstream stream, CUgraphNode* dependencies, size_t count,
                                                         unsigned flags) {
  return cuStreamUpdateCaptureDependencies_v2(stream, dependencies, nullptr, count, flags);
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return enter(__func__, Needs::Initialised, [&] { *mode = exchange_mode(*mode); });
}
