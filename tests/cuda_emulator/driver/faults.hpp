// A kernel that touches memory it may not is a fault of the device; a host that does is a crash that says so.
#pragma once
#include <cuda.h>

#include <functional>

namespace eagle::emu {

// Runs a kernel; CUDA_ERROR_ILLEGAL_ADDRESS if it faults.
CUresult catching_faults(const char* kernel, const std::function<void()>& run);
[[noreturn]] void raise_fault();  // from within a kernel
void watch_faults();

}  // namespace eagle::emu
