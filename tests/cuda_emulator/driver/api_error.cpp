// Entry points: names and descriptions of error codes.
#include <cuda.h>

namespace {

struct Named {
  CUresult code;
  const char* name;
  const char* description;
};

#define NAMED(code, description) {code, #code, description}
constexpr Named errors[] = {
    NAMED(CUDA_SUCCESS, "no error"),
    NAMED(CUDA_ERROR_INVALID_VALUE, "a parameter is not acceptable"),
    NAMED(CUDA_ERROR_OUT_OF_MEMORY, "not enough memory"),
    NAMED(CUDA_ERROR_NOT_INITIALIZED, "the driver is not initialised"),
    NAMED(CUDA_ERROR_NO_DEVICE, "there is no device"),
    NAMED(CUDA_ERROR_INVALID_DEVICE, "there is no such device"),
    NAMED(CUDA_ERROR_INVALID_IMAGE, "the kernel image is not valid"),
    NAMED(CUDA_ERROR_INVALID_CONTEXT, "no context is current, or it is not valid"),
    NAMED(CUDA_ERROR_NO_BINARY_FOR_GPU, "no image for this device"),
    NAMED(CUDA_ERROR_INVALID_PTX, "PTX could not be compiled"),
    NAMED(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "the PTX is newer than the driver"),
    NAMED(CUDA_ERROR_INVALID_HANDLE, "a handle is not valid"),
    NAMED(CUDA_ERROR_ILLEGAL_STATE, "a resource is not in a state for this"),
    NAMED(CUDA_ERROR_NOT_FOUND, "a named symbol was not found"),
    NAMED(CUDA_ERROR_NOT_READY, "operations are not completed yet"),
    NAMED(CUDA_ERROR_ILLEGAL_ADDRESS, "a kernel touched an address it may not"),
    NAMED(CUDA_ERROR_LAUNCH_TIMEOUT, "a launch took too long"),
    NAMED(CUDA_ERROR_NOT_PERMITTED, "the operation is not permitted"),
    NAMED(CUDA_ERROR_NOT_SUPPORTED, "the operation is not supported"),
    NAMED(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "not permitted while a stream captures"),
    NAMED(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "the capture was invalidated by an earlier error"),
    NAMED(CUDA_ERROR_STREAM_CAPTURE_MERGE, "would merge two captures"),
    NAMED(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "the capture did not begin in this stream"),
    NAMED(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "forked work was not joined to the stream the capture began in"),
    NAMED(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, "would depend on work outside the capture"),
    NAMED(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "would make the legacy stream depend on the capture"),
    NAMED(CUDA_ERROR_CAPTURED_EVENT, "not permitted on an event last recorded in a capture"),
    NAMED(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, "the capture began in another thread"),
    NAMED(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, "the graph differs from the executable in what an update may not change"),
    NAMED(CUDA_ERROR_UNKNOWN, "an unknown error"),
};
#undef NAMED

const Named* find(CUresult code) {
  for (auto& error : errors)
    if (error.code == code) return &error;
  return nullptr;
}

CUresult tell(const char* Named::* what, CUresult code, const char** out) {
  const Named* error = find(code);
  *out = error ? error->*what : nullptr;
  return error ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

CUresult cuGetErrorName(CUresult code, const char** out) { return tell(&Named::name, code, out); }
CUresult cuGetErrorString(CUresult code, const char** out) { return tell(&Named::description, code, out); }
