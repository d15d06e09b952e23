#include "stream.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <thread>

#include "capture.hpp"
#include "context.hpp"
#include "entry.hpp"

namespace eagle::emu {
namespace {

std::set<CUstream> streams;  // those of the program
std::set<CUevent> events;
std::map<CUcontext, CUstream> legacy_streams;
std::map<std::pair<std::thread::id, CUcontext>, CUstream> per_thread_streams;
std::map<CUcontext, std::vector<OpRef>> left_behind;  // last operations of blocking streams that were destroyed
bool null_is_per_thread = false;
unsigned long long stream_ids = 0;

CUstream make(CUstream_st::Kind kind, CUcontext context) {
  auto* stream = new CUstream_st;
  stream->kind = kind;
  stream->context = context;
  stream->id = ++stream_ids;
  return stream;
}

CUstream per_thread_stream(CUcontext context) {
  CUstream& stream = per_thread_streams[{std::this_thread::get_id(), context}];
  if (!stream) stream = make(CUstream_st::Kind::PerThread, context);
  return stream;
}

}  // namespace

CUstream legacy_stream(CUcontext context) {
  CUstream& stream = legacy_streams[context];
  if (!stream) stream = make(CUstream_st::Kind::Legacy, context);
  return stream;
}

void let_null_be_per_thread() { null_is_per_thread = true; }

CUstream find_stream(CUstream handle) {
  if (handle == CU_STREAM_LEGACY || (!handle && !null_is_per_thread)) return legacy_stream(current_context());
  if (handle == CU_STREAM_PER_THREAD || !handle) return per_thread_stream(current_context());
  require(streams.count(handle), CUDA_ERROR_INVALID_HANDLE);
  return handle;
}

CUstream use_stream(CUstream handle) {
  CUstream stream = find_stream(handle);
  if (stream->kind == CUstream_st::Kind::Legacy) refuse_legacy_use(stream->context);
  return stream;
}

CUstream create_stream(unsigned flags, int priority) {
  // cuStreamCreate: flags are CU_STREAM_DEFAULT or CU_STREAM_NON_BLOCKING.
  require(!(flags & ~CU_STREAM_NON_BLOCKING), CUDA_ERROR_INVALID_VALUE);
  CUstream stream = make(CUstream_st::Kind::Created, current_context());
  stream->flags = flags;
  // cuStreamCreateWithPriority: a priority outside the range is clamped to it.
  stream->priority = std::max(-5, std::min(0, priority));
  streams.insert(stream);
  return stream;
}

void destroy_stream(CUstream stream) {
  require(stream->kind == CUstream_st::Kind::Created, CUDA_ERROR_INVALID_HANDLE);
  // cuStreamDestroy: "the function will return immediately and the resources associated with hStream will be released
  // automatically once the device has completed all work": the operations in flight keep themselves.
  leave_capture(stream);
  if (stream->blocking() && stream->tail && !stream->tail->done()) left_behind[stream->context].push_back(stream->tail);
  streams.erase(stream);
  delete stream;
}

long live_streams() { return streams.size(); }

std::vector<OpRef> order_of(CUstream stream) {
  std::vector<OpRef> before{stream->tail};
  if (stream->kind == CUstream_st::Kind::Legacy) {
    // CUDA Driver API, "Stream synchronization behavior", legacy default stream: an action in it waits for all blocking
    // streams of the context, per-thread ones too, and all of them wait for it.
    for (CUstream other : streams)
      if (other->blocking() && other->context == stream->context) before.push_back(other->tail);
    for (auto& [key, other] : per_thread_streams)
      if (other->context == stream->context) before.push_back(other->tail);
    std::vector<OpRef>& ended = left_behind[stream->context];
    ended.erase(std::remove_if(ended.begin(), ended.end(), [](auto& op) { return op->done(); }), ended.end());
    before.insert(before.end(), ended.begin(), ended.end());
  } else if (stream->blocking()) {
    before.push_back(legacy_stream(stream->context)->tail);
  }
  return before;
}

OpRef enqueue(CUstream stream, ActionRef action, std::vector<OpRef> also) {
  std::vector<OpRef> before = order_of(stream);
  before.insert(before.end(), also.begin(), also.end());
  return stream->tail = queue().add(std::move(action), before);
}

void submit(CUstream stream, ActionRef action) {
  if (stream->capture)
    capture_node(stream, std::move(action));
  else
    enqueue(stream, std::move(action));
}

CUevent create_event(unsigned flags) {
  auto* event = new CUevent_st{std::make_shared<EventState>(), current_context()};
  event->state->flags = flags;
  events.insert(event);
  return event;
}

void destroy_event(CUevent event) {
  events.erase(find_event(event));
  delete event;
}

CUevent find_event(CUevent handle) {
  require(events.count(handle), CUDA_ERROR_INVALID_HANDLE);
  return handle;
}

long live_events() { return events.size(); }

}  // namespace eagle::emu
