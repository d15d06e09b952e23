#include "faults.hpp"

#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstring>

#include <unistd.h>

#include "memory.hpp"

namespace eagle::emu {
namespace {

thread_local sigjmp_buf* way_out = nullptr;  // of the kernel that runs in this thread
thread_local uint64_t fault_address = 0;
struct sigaction earlier;
bool passed_on = false;

void say(const char* text) {
  if (write(STDERR_FILENO, text, strlen(text)) < 0) return;
}

void on_fault(int number, siginfo_t* info, void* context) {
  auto address = reinterpret_cast<uint64_t>(info->si_addr);
  if (way_out) {
    fault_address = address;
    siglongjmp(*way_out, 1);
  }
  if (heap().is_ours(address))
    say("emulated CUDA device: the host touched device memory, or memory that was freed, outside a copy\n");
  // Not ours to mend: give it to whoever watched before, once, or fault again without a watcher.
  bool has_handler = earlier.sa_flags & SA_SIGINFO || (earlier.sa_handler != SIG_DFL && earlier.sa_handler != SIG_IGN);
  if (passed_on || !has_handler) {
    signal(number, SIG_DFL);
    return;
  }
  passed_on = true;
  if (earlier.sa_flags & SA_SIGINFO)
    earlier.sa_sigaction(number, info, context);
  else
    earlier.sa_handler(number);
}

}  // namespace

void watch_faults() {
  // Whoever came after us, such as Python's faulthandler, would report a fault that is the device's own affair.
  struct sigaction action;
  sigaction(SIGSEGV, nullptr, &action);
  if (action.sa_flags & SA_SIGINFO && action.sa_sigaction == on_fault) return;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGSEGV, &action, &earlier);
}

CUresult catching_faults(const char* kernel, const std::function<void()>& run) {
  watch_faults();
  sigjmp_buf here;
  if (sigsetjmp(here, 0) != 0) {
    way_out = nullptr;
    fprintf(stderr, "emulated CUDA device: kernel %s touched 0x%llx, which is not its to touch\n", kernel,
            static_cast<unsigned long long>(fault_address));
    return CUDA_ERROR_ILLEGAL_ADDRESS;
  }
  way_out = &here;
  run();
  way_out = nullptr;
  return CUDA_SUCCESS;
}

void raise_fault() {
  fault_address = 0;
  siglongjmp(*way_out, 1);
}

}  // namespace eagle::emu
