// Entry points: streams and events.
#include "actions.hpp"
#include "capture.hpp"
#include "context.hpp"
#include "entry.hpp"
#include "order.hpp"
#include "stream.hpp"

using namespace eagle::emu;

namespace {

// A query lets the device get on a little, so that a program that polls comes to an end.
void query(const std::vector<OpRef>& wanted) {
  queue().wait_for(wanted, 1 + order().below(4));
  check(Needs::Context);
  for (auto& op : wanted) require(!op || op->done(), CUDA_ERROR_NOT_READY);
}

void record(CUevent handle, CUstream stream_handle, unsigned flags) {
  CUstream stream = use_stream(stream_handle);
  CUevent event = find_event(handle);
  // cuEventRecord: "hEvent and hStream must be from the same context".
  require(event->context == stream->context, CUDA_ERROR_INVALID_HANDLE);
  if (stream->capture && flags & CU_EVENT_RECORD_EXTERNAL) {
    // CU_EVENT_RECORD_EXTERNAL: an event record node instead of a fork.
    capture_node(stream, std::make_shared<EventAction>(CU_GRAPH_NODE_TYPE_EVENT_RECORD, event));
  } else if (stream->capture) {
    record_captured(stream, event->state);
  } else {
    event->state->captured = false;
    event->state->mark = enqueue(stream, nullptr);
  }
}

void wait(CUstream stream_handle, CUevent handle, unsigned flags) {
  CUstream stream = use_stream(stream_handle);
  CUevent event = find_event(handle);
  const EventRef& state = event->state;
  if (stream->capture && flags & CU_EVENT_WAIT_EXTERNAL)
    capture_node(stream, std::make_shared<EventAction>(CU_GRAPH_NODE_TYPE_WAIT_EVENT, event));
  else if (stream->capture || state->captured)
    wait_captured(stream, state);
  else if (state->mark && !state->mark->done())
    enqueue(stream, nullptr, {state->mark});
}

}  // namespace

CUresult cuStreamCreate(CUstream* out, unsigned flags) {
  return enter(__func__, Needs::Context, [&] { *out = create_stream(flags, 0); });
}

CUresult cuStreamCreateWithPriority(CUstream* out, unsigned flags, int priority) {
  return enter(__func__, Needs::Context, [&] { *out = create_stream(flags, priority); });
}

CUresult cuStreamDestroy(CUstream stream) {
  return enter(__func__, Needs::Cleanup, [&] { destroy_stream(find_stream(stream)); });
}

CUresult cuStreamGetFlags(CUstream stream, unsigned* flags) {
  return enter(__func__, Needs::Context, [&] { *flags = find_stream(stream)->flags; });
}

CUresult cuStreamGetPriority(CUstream stream, int* priority) {
  return enter(__func__, Needs::Context, [&] { *priority = find_stream(stream)->priority; });
}

CUresult cuStreamGetId(CUstream stream, unsigned long long* id) {
  return enter(__func__, Needs::Context, [&] { *id = find_stream(stream)->id; });
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  return enter(__func__, Needs::Context, [&] { *context = find_stream(stream)->context; });
}

CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext* context, CUgreenCtx* green) {
  if (green) *green = nullptr;
  return cuStreamGetCtx(stream, context);
}

CUresult cuStreamGetDevice(CUstream stream, CUdevice* device) {
  return enter(__func__, Needs::Context, [&] { *device = find_stream(stream)->context->device; });
}

CUresult cuStreamSynchronize(CUstream handle) {
  return enter(__func__, Needs::Context, [&] {
    CUstream stream = use_stream(handle);
    refuse_while_capturing(stream);
    refuse_unsafe_call();
    bool legacy = stream->kind == CUstream_st::Kind::Legacy;
    queue().wait_for(legacy ? order_of(stream) : std::vector<OpRef>{stream->tail});
    check(Needs::Context);
  });
}

CUresult cuStreamQuery(CUstream handle) {
  return enter(__func__, Needs::Context, [&] {
    CUstream stream = use_stream(handle);
    refuse_while_capturing(stream);
    refuse_unsafe_call();
    bool legacy = stream->kind == CUstream_st::Kind::Legacy;
    query(legacy ? order_of(stream) : std::vector<OpRef>{stream->tail});
  });
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return enter(__func__, Needs::Context, [&] { wait(stream, event, flags); });
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* argument) {
  return enter(__func__, Needs::Context,
               [&] { submit(use_stream(stream), std::make_shared<HostAction>(function, argument)); });
}

CUresult cuLaunchHostFunc_v2(CUstream stream, CUhostFn function, void* argument, unsigned) {
  return cuLaunchHostFunc(stream, function, argument);
}

CUresult cuEventCreate(CUevent* out, unsigned flags) {
  return enter(__func__, Needs::Context, [&] { *out = create_event(flags); });
}

CUresult cuEventDestroy(CUevent event) {
  return enter(__func__, Needs::Cleanup, [&] { destroy_event(event); });
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  return enter(__func__, Needs::Context, [&] { record(event, stream, CU_EVENT_RECORD_DEFAULT); });
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  return enter(__func__, Needs::Context, [&] { record(event, stream, flags); });
}

CUresult cuEventQuery(CUevent event) {
  return enter(__func__, Needs::Context, [&] {
    refuse_captured(find_event(event)->state);
    refuse_unsafe_call();
    query({event->state->mark});
  });
}

CUresult cuEventSynchronize(CUevent event) {
  return enter(__func__, Needs::Context, [&] {
    refuse_captured(find_event(event)->state);
    refuse_unsafe_call();
    queue().wait_for({event->state->mark});
    check(Needs::Context);
  });
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return enter(__func__, Needs::Context, [&] {
    const Op* from = find_event(start)->state->mark.get();
    const Op* to = find_event(end)->state->mark.get();
    bool timed = !((start->state->flags | end->state->flags) & CU_EVENT_DISABLE_TIMING);
    require(from && to && timed, CUDA_ERROR_INVALID_HANDLE);
    require(from->done() && to->done(), CUDA_ERROR_NOT_READY);
    *milliseconds = std::chrono::duration<float, std::milli>(to->finished - from->finished).count();
  });
}
