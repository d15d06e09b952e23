// The entry points of the runtime compiler. Declared here as NVIDIA documents them, because its header is not in the wheel
// of the driver's.
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "compiler.hpp"
#include "source.hpp"

#define EAGLE_EXPORT extern "C" __attribute__((visibility("default")))

struct _nvrtcProgram {
  std::string source, name, image, log;
  std::vector<std::string> instances;
  std::map<std::string, std::string> lowered;
};

namespace {

using Program = _nvrtcProgram*;
enum Result { Success = 0, InvalidInput = 3, CompilationError = 6, NoSuchName = 10 };

int give(const std::string& text, char* out) {
  memcpy(out, text.data(), text.size());
  return Success;
}

}  // namespace

EAGLE_EXPORT void eagleNvrtcConfigure(const char* include, const char* cache) {
  eagle::nvrtc::configure(include, cache);
}

EAGLE_EXPORT const char* nvrtcGetErrorString(int result) {
  switch (result) {
    case Success: return "NVRTC_SUCCESS";
    case InvalidInput: return "NVRTC_ERROR_INVALID_INPUT";
    case CompilationError: return "NVRTC_ERROR_COMPILATION";
    case NoSuchName: return "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID";
    default: return "NVRTC_ERROR unknown";
  }
}

EAGLE_EXPORT int nvrtcVersion(int* major, int* minor) {
  *major = 13;
  *minor = 0;
  return Success;
}

EAGLE_EXPORT int nvrtcGetNumSupportedArchs(int* count) {
  *count = 1;
  return Success;
}

EAGLE_EXPORT int nvrtcGetSupportedArchs(int* architectures) {
  *architectures = 90;
  return Success;
}

EAGLE_EXPORT int nvrtcCreateProgram(Program* out, const char* source, const char* name, int headers, const char* const*,
                                    const char* const*) {
  if (!source || headers) return InvalidInput;  // headers given as text are not supported
  *out = new _nvrtcProgram;
  (*out)->source = source;
  (*out)->name = name && *name ? name : "default_program";
  return Success;
}

EAGLE_EXPORT int nvrtcDestroyProgram(Program* program) {
  delete *program;
  *program = nullptr;
  return Success;
}

EAGLE_EXPORT int nvrtcAddNameExpression(Program program, const char* expression) {
  program->instances.push_back(expression);
  return Success;
}

EAGLE_EXPORT int nvrtcCompileProgram(Program program, int count, const char* const* options) {
  std::string source = eagle::nvrtc::host_source(program->source, program->name, program->instances);
  eagle::nvrtc::Compiled made = eagle::nvrtc::compile(source, {options, options + count});
  program->log = made.log;
  program->image = made.image;
  if (!made.success) return CompilationError;
  for (auto& instance : program->instances)
    program->lowered[instance] = eagle::nvrtc::symbol_of(program->image, instance);
  return Success;
}

EAGLE_EXPORT int nvrtcGetLoweredName(Program program, const char* expression, const char** out) {
  auto found = program->lowered.find(expression);
  if (found == program->lowered.end()) return NoSuchName;
  *out = found->second.c_str();
  return Success;
}

EAGLE_EXPORT int nvrtcGetProgramLogSize(Program program, size_t* size) {
  *size = program->log.size() + 1;
  return Success;
}

EAGLE_EXPORT int nvrtcGetProgramLog(Program program, char* out) {
  memcpy(out, program->log.c_str(), program->log.size() + 1);
  return Success;
}

// The image stands for whichever form the program asks for.
EAGLE_EXPORT int nvrtcGetCUBINSize(Program program, size_t* size) {
  *size = program->image.size();
  return Success;
}
EAGLE_EXPORT int nvrtcGetCUBIN(Program program, char* out) { return give(program->image, out); }
EAGLE_EXPORT int nvrtcGetPTXSize(Program program, size_t* size) { return nvrtcGetCUBINSize(program, size); }
EAGLE_EXPORT int nvrtcGetPTX(Program program, char* out) { return give(program->image, out); }
