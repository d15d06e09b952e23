// Devices and their contexts. Only primary contexts: it is what cuda.core, and so eagle, uses.
#pragma once
#include <cuda.h>

struct CUctx_st {
  int device = 0;
  int retained = 0;
  unsigned flags = 0;
};

namespace eagle::emu {

void configure_devices(int count);
int device_count();
CUcontext primary_context(CUdevice device);  // refuses a device that is not there

CUcontext current_context();  // of this thread, null if none
void set_current_context(CUcontext context);
void push_context(CUcontext context);
CUcontext pop_context();

}  // namespace eagle::emu
