// The table by which a program finds the entry points: name, the CUDA version the signature is of, and the function.
// A driver gives the newest signature that is not newer than the program asks for.
#include <cuda.h>

#include <cstring>

#include "control.hpp"
#include "stream.hpp"

// Older signatures, which the header declares no more.
extern "C" {
CUresult cuStreamGetCaptureInfo_v1(CUstream, CUstreamCaptureStatus*, cuuint64_t*);
CUresult cuStreamGetCaptureInfo_v2(CUstream, CUstreamCaptureStatus*, cuuint64_t*, CUgraph*, const CUgraphNode**, size_t*);
CUresult cuStreamUpdateCaptureDependencies_v1(CUstream, CUgraphNode*, size_t, unsigned);
}

namespace {

struct Entry {
  const char* name;
  int since;
  void* function;
};

template <class Function>
void* address(Function* function) {
  return reinterpret_cast<void*>(function);
}

const Entry entries[] = {
    {"cuGetErrorString", 6000, address(cuGetErrorString)},
    {"cuGetErrorName", 6000, address(cuGetErrorName)},
    {"cuInit", 2000, address(cuInit)},
    {"cuDriverGetVersion", 2020, address(cuDriverGetVersion)},
    {"cuDeviceGet", 2000, address(cuDeviceGet)},
    {"cuDeviceGetCount", 2000, address(cuDeviceGetCount)},
    {"cuDeviceGetName", 2000, address(cuDeviceGetName)},
    {"cuDeviceGetUuid", 9020, address(cuDeviceGetUuid_v2)},
    {"cuDeviceTotalMem", 3020, address(cuDeviceTotalMem_v2)},
    {"cuDeviceGetAttribute", 2000, address(cuDeviceGetAttribute)},
    {"cuDeviceGetPCIBusId", 4010, address(cuDeviceGetPCIBusId)},
    {"cuDeviceCanAccessPeer", 4000, address(cuDeviceCanAccessPeer)},
    {"cuDeviceGetMemPool", 11020, address(cuDeviceGetMemPool)},
    {"cuDeviceGetDefaultMemPool", 11020, address(cuDeviceGetDefaultMemPool)},
    {"cuDevicePrimaryCtxRetain", 7000, address(cuDevicePrimaryCtxRetain)},
    {"cuDevicePrimaryCtxRelease", 11000, address(cuDevicePrimaryCtxRelease_v2)},
    {"cuDevicePrimaryCtxGetState", 7000, address(cuDevicePrimaryCtxGetState)},
    {"cuDevicePrimaryCtxSetFlags", 11000, address(cuDevicePrimaryCtxSetFlags_v2)},
    {"cuCtxGetCurrent", 4000, address(cuCtxGetCurrent)},
    {"cuCtxSetCurrent", 4000, address(cuCtxSetCurrent)},
    {"cuCtxPushCurrent", 4000, address(cuCtxPushCurrent_v2)},
    {"cuCtxPopCurrent", 4000, address(cuCtxPopCurrent_v2)},
    {"cuCtxGetDevice", 2000, address(cuCtxGetDevice)},
    {"cuCtxGetDevice", 13000, address(cuCtxGetDevice_v2)},
    {"cuCtxGetId", 12000, address(cuCtxGetId)},
    {"cuCtxGetFlags", 7000, address(cuCtxGetFlags)},
    {"cuCtxGetStreamPriorityRange", 5050, address(cuCtxGetStreamPriorityRange)},
    {"cuCtxSynchronize", 2000, address(cuCtxSynchronize)},
    {"cuCtxSynchronize", 13000, address(cuCtxSynchronize_v2)},
    {"cuMemGetInfo", 3020, address(cuMemGetInfo_v2)},
    {"cuMemAlloc", 3020, address(cuMemAlloc_v2)},
    {"cuMemFree", 3020, address(cuMemFree_v2)},
    {"cuMemAllocHost", 3020, address(cuMemAllocHost_v2)},
    {"cuMemHostAlloc", 2020, address(cuMemHostAlloc)},
    {"cuMemFreeHost", 2000, address(cuMemFreeHost)},
    {"cuMemAllocManaged", 6000, address(cuMemAllocManaged)},
    {"cuMemHostGetDevicePointer", 3020, address(cuMemHostGetDevicePointer_v2)},
    {"cuMemGetAddressRange", 3020, address(cuMemGetAddressRange_v2)},
    {"cuMemAllocAsync", 11020, address(cuMemAllocAsync)},
    {"cuMemAllocFromPoolAsync", 11020, address(cuMemAllocFromPoolAsync)},
    {"cuMemFreeAsync", 11020, address(cuMemFreeAsync)},
    {"cuMemPoolCreate", 11020, address(cuMemPoolCreate)},
    {"cuMemPoolDestroy", 11020, address(cuMemPoolDestroy)},
    {"cuMemPoolSetAttribute", 11020, address(cuMemPoolSetAttribute)},
    {"cuMemPoolGetAttribute", 11020, address(cuMemPoolGetAttribute)},
    {"cuMemPoolSetAccess", 11020, address(cuMemPoolSetAccess)},
    {"cuMemPoolGetAccess", 11020, address(cuMemPoolGetAccess)},
    {"cuMemPoolTrimTo", 11020, address(cuMemPoolTrimTo)},
    {"cuMemGetDefaultMemPool", 13000, address(cuMemGetDefaultMemPool)},
    {"cuMemGetMemPool", 13000, address(cuMemGetMemPool)},
    {"cuPointerGetAttribute", 4000, address(cuPointerGetAttribute)},
    {"cuPointerGetAttributes", 7000, address(cuPointerGetAttributes)},
    {"cuMemcpy", 4000, address(cuMemcpy)},
    {"cuMemcpyHtoD", 3020, address(cuMemcpyHtoD_v2)},
    {"cuMemcpyDtoH", 3020, address(cuMemcpyDtoH_v2)},
    {"cuMemcpyDtoD", 3020, address(cuMemcpyDtoD_v2)},
    {"cuMemcpyAsync", 4000, address(cuMemcpyAsync)},
    {"cuMemcpyHtoDAsync", 3020, address(cuMemcpyHtoDAsync_v2)},
    {"cuMemcpyDtoHAsync", 3020, address(cuMemcpyDtoHAsync_v2)},
    {"cuMemcpyDtoDAsync", 3020, address(cuMemcpyDtoDAsync_v2)},
    {"cuMemcpyWithAttributesAsync", 13020, address(cuMemcpyWithAttributesAsync)},
    {"cuMemsetD8Async", 3020, address(cuMemsetD8Async)},
    {"cuMemsetD16Async", 3020, address(cuMemsetD16Async)},
    {"cuMemsetD32Async", 3020, address(cuMemsetD32Async)},
    {"cuMemsetD8", 3020, address(cuMemsetD8_v2)},
    {"cuMemsetD32", 3020, address(cuMemsetD32_v2)},
    {"cuStreamCreate", 2000, address(cuStreamCreate)},
    {"cuStreamCreateWithPriority", 5050, address(cuStreamCreateWithPriority)},
    {"cuStreamDestroy", 4000, address(cuStreamDestroy_v2)},
    {"cuStreamGetFlags", 5050, address(cuStreamGetFlags)},
    {"cuStreamGetPriority", 5050, address(cuStreamGetPriority)},
    {"cuStreamGetId", 12000, address(cuStreamGetId)},
    {"cuStreamGetCtx", 9020, address(cuStreamGetCtx)},
    {"cuStreamGetCtx", 12050, address(cuStreamGetCtx_v2)},
    {"cuStreamGetDevice", 12080, address(cuStreamGetDevice)},
    {"cuStreamSynchronize", 2000, address(cuStreamSynchronize)},
    {"cuStreamQuery", 2000, address(cuStreamQuery)},
    {"cuStreamWaitEvent", 3020, address(cuStreamWaitEvent)},
    {"cuLaunchHostFunc", 10000, address(cuLaunchHostFunc)},
    {"cuLaunchHostFunc", 13020, address(cuLaunchHostFunc_v2)},
    {"cuStreamBeginCapture", 10010, address(cuStreamBeginCapture_v2)},
    {"cuStreamBeginCaptureToGraph", 12030, address(cuStreamBeginCaptureToGraph)},
    {"cuStreamEndCapture", 10000, address(cuStreamEndCapture)},
    {"cuStreamIsCapturing", 10000, address(cuStreamIsCapturing)},
    {"cuStreamGetCaptureInfo", 11030, address(cuStreamGetCaptureInfo_v2)},
    {"cuStreamGetCaptureInfo", 12030, address(cuStreamGetCaptureInfo_v3)},
    {"cuStreamUpdateCaptureDependencies", 12030, address(cuStreamUpdateCaptureDependencies_v2)},
    {"cuThreadExchangeStreamCaptureMode", 10010, address(cuThreadExchangeStreamCaptureMode)},
    {"cuEventCreate", 2000, address(cuEventCreate)},
    {"cuEventDestroy", 4000, address(cuEventDestroy_v2)},
    {"cuEventRecord", 2000, address(cuEventRecord)},
    {"cuEventRecordWithFlags", 11010, address(cuEventRecordWithFlags)},
    {"cuEventQuery", 2000, address(cuEventQuery)},
    {"cuEventSynchronize", 2000, address(cuEventSynchronize)},
    {"cuEventElapsedTime", 2000, address(cuEventElapsedTime_v2)},
    {"cuModuleLoadData", 2000, address(cuModuleLoadData)},
    {"cuModuleLoadDataEx", 2010, address(cuModuleLoadDataEx)},
    {"cuModuleUnload", 2000, address(cuModuleUnload)},
    {"cuModuleGetLoadingMode", 11070, address(cuModuleGetLoadingMode)},
    {"cuModuleGetFunction", 2000, address(cuModuleGetFunction)},
    {"cuLibraryLoadData", 12000, address(cuLibraryLoadData)},
    {"cuLibraryUnload", 12000, address(cuLibraryUnload)},
    {"cuLibraryGetKernel", 12000, address(cuLibraryGetKernel)},
    {"cuLibraryGetModule", 12000, address(cuLibraryGetModule)},
    {"cuLibraryGetKernelCount", 12040, address(cuLibraryGetKernelCount)},
    {"cuKernelGetFunction", 12000, address(cuKernelGetFunction)},
    {"cuKernelGetLibrary", 12050, address(cuKernelGetLibrary)},
    {"cuKernelGetName", 12030, address(cuKernelGetName)},
    {"cuFuncGetName", 12030, address(cuFuncGetName)},
    {"cuFuncGetModule", 11000, address(cuFuncGetModule)},
    {"cuFuncGetParamInfo", 12040, address(cuFuncGetParamInfo)},
    {"cuKernelGetParamInfo", 12040, address(cuKernelGetParamInfo)},
    {"cuKernelGetParamCount", 13020, address(cuKernelGetParamCount)},
    {"cuFuncGetParamCount", 13020, address(cuFuncGetParamCount)},
    {"cuFuncGetAttribute", 2020, address(cuFuncGetAttribute)},
    {"cuKernelGetAttribute", 12000, address(cuKernelGetAttribute)},
    {"cuFuncSetAttribute", 9000, address(cuFuncSetAttribute)},
    {"cuKernelSetAttribute", 12000, address(cuKernelSetAttribute)},
    {"cuLaunchKernel", 4000, address(cuLaunchKernel)},
    {"cuLaunchKernelEx", 11060, address(cuLaunchKernelEx)},
    {"cuGraphCreate", 10000, address(cuGraphCreate)},
    {"cuGraphDestroy", 10000, address(cuGraphDestroy)},
    {"cuGraphClone", 10000, address(cuGraphClone)},
    {"cuGraphNodeFindInClone", 10000, address(cuGraphNodeFindInClone)},
    {"cuGraphAddEmptyNode", 10000, address(cuGraphAddEmptyNode)},
    {"cuGraphAddKernelNode", 12000, address(cuGraphAddKernelNode_v2)},
    {"cuGraphAddMemsetNode", 10000, address(cuGraphAddMemsetNode)},
    {"cuGraphAddMemcpyNode", 10000, address(cuGraphAddMemcpyNode)},
    {"cuGraphAddHostNode", 10000, address(cuGraphAddHostNode)},
    {"cuGraphAddChildGraphNode", 10000, address(cuGraphAddChildGraphNode)},
    {"cuGraphChildGraphNodeGetGraph", 10000, address(cuGraphChildGraphNodeGetGraph)},
    {"cuGraphAddEventRecordNode", 11010, address(cuGraphAddEventRecordNode)},
    {"cuGraphAddEventWaitNode", 11010, address(cuGraphAddEventWaitNode)},
    {"cuGraphConditionalHandleCreate", 12030, address(cuGraphConditionalHandleCreate)},
    {"cuGraphAddNode", 12030, address(cuGraphAddNode_v2)},
    {"cuGraphAddNode", 13041, address(cuGraphAddNode_v3)},
    {"cuGraphNodeGetType", 10000, address(cuGraphNodeGetType)},
    {"cuGraphNodeGetContainingGraph", 13010, address(cuGraphNodeGetContainingGraph)},
    {"cuGraphGetNodes", 10000, address(cuGraphGetNodes)},
    {"cuGraphGetRootNodes", 10000, address(cuGraphGetRootNodes)},
    {"cuGraphGetEdges", 12030, address(cuGraphGetEdges_v2)},
    {"cuGraphNodeGetDependencies", 12030, address(cuGraphNodeGetDependencies_v2)},
    {"cuGraphNodeGetDependentNodes", 12030, address(cuGraphNodeGetDependentNodes_v2)},
    {"cuGraphAddDependencies", 12030, address(cuGraphAddDependencies_v2)},
    {"cuGraphRemoveDependencies", 12030, address(cuGraphRemoveDependencies_v2)},
    {"cuGraphDestroyNode", 10000, address(cuGraphDestroyNode)},
    {"cuGraphKernelNodeGetParams", 12000, address(cuGraphKernelNodeGetParams_v2)},
    {"cuGraphMemsetNodeGetParams", 10000, address(cuGraphMemsetNodeGetParams)},
    {"cuGraphMemcpyNodeGetParams", 10000, address(cuGraphMemcpyNodeGetParams)},
    {"cuGraphHostNodeGetParams", 10000, address(cuGraphHostNodeGetParams)},
    {"cuGraphNodeGetParams", 13020, address(cuGraphNodeGetParams)},
    {"cuGraphNodeSetParams", 12020, address(cuGraphNodeSetParams)},
    {"cuGraphNodeSetParams", 13041, address(cuGraphNodeSetParams_v2)},
    {"cuGraphKernelNodeGetAttribute", 11000, address(cuGraphKernelNodeGetAttribute)},
    {"cuGraphAddMemAllocNode", 11040, address(cuGraphAddMemAllocNode)},
    {"cuGraphAddMemFreeNode", 11040, address(cuGraphAddMemFreeNode)},
    {"cuGraphMemAllocNodeGetParams", 11040, address(cuGraphMemAllocNodeGetParams)},
    {"cuGraphMemFreeNodeGetParams", 11040, address(cuGraphMemFreeNodeGetParams)},
    {"cuGraphEventRecordNodeGetEvent", 11010, address(cuGraphEventRecordNodeGetEvent)},
    {"cuGraphEventWaitNodeGetEvent", 11010, address(cuGraphEventWaitNodeGetEvent)},
    {"cuGraphInstantiateWithFlags", 11040, address(cuGraphInstantiateWithFlags)},
    {"cuGraphInstantiateWithParams", 12000, address(cuGraphInstantiateWithParams)},
    {"cuGraphExecGetFlags", 12000, address(cuGraphExecGetFlags)},
    {"cuGraphUpload", 11010, address(cuGraphUpload)},
    {"cuGraphLaunch", 10000, address(cuGraphLaunch)},
    {"cuGraphExecDestroy", 10000, address(cuGraphExecDestroy)},
    {"cuGraphExecUpdate", 12000, address(cuGraphExecUpdate_v2)},
    {"cuGraphExecKernelNodeSetParams", 12000, address(cuGraphExecKernelNodeSetParams_v2)},
    {"cuGraphExecNodeSetParams", 12020, address(cuGraphExecNodeSetParams)},
    {"cuGraphNodeSetEnabled", 11060, address(cuGraphNodeSetEnabled)},
    {"cuGraphNodeGetEnabled", 11060, address(cuGraphNodeGetEnabled)},
    {"cuUserObjectCreate", 11030, address(cuUserObjectCreate)},
    {"cuUserObjectRetain", 11030, address(cuUserObjectRetain)},
    {"cuUserObjectRelease", 11030, address(cuUserObjectRelease)},
    {"cuGraphRetainUserObject", 11030, address(cuGraphRetainUserObject)},
    {"cuGraphReleaseUserObject", 11030, address(cuGraphReleaseUserObject)},
    {"cuGraphDebugDotPrint", 11030, address(cuGraphDebugDotPrint)},
    {"cuGraphInstantiate", 12000, address(cuGraphInstantiateWithFlags)},
    {"cuStreamGetCaptureInfo", 10010, address(cuStreamGetCaptureInfo_v1)},
    {"cuStreamUpdateCaptureDependencies", 11030, address(cuStreamUpdateCaptureDependencies_v1)},
    {"cuGraphKernelNodeSetParams", 12000, address(cuGraphKernelNodeSetParams_v2)},
    {"cuGraphMemcpyNodeSetParams", 10000, address(cuGraphMemcpyNodeSetParams)},
    {"cuGraphMemsetNodeSetParams", 10000, address(cuGraphMemsetNodeSetParams)},
    {"cuGraphHostNodeSetParams", 10000, address(cuGraphHostNodeSetParams)},
    {"cuGraphEventRecordNodeSetEvent", 11010, address(cuGraphEventRecordNodeSetEvent)},
    {"cuGraphEventWaitNodeSetEvent", 11010, address(cuGraphEventWaitNodeSetEvent)},
    {"cuGraphExecMemcpyNodeSetParams", 10020, address(cuGraphExecMemcpyNodeSetParams)},
    {"cuGraphExecMemsetNodeSetParams", 10020, address(cuGraphExecMemsetNodeSetParams)},
    {"cuGraphExecHostNodeSetParams", 10020, address(cuGraphExecHostNodeSetParams)},
    {"cuGraphExecChildGraphNodeSetParams", 11010, address(cuGraphExecChildGraphNodeSetParams)},
    {"cuGraphExecEventRecordNodeSetEvent", 11010, address(cuGraphExecEventRecordNodeSetEvent)},
    {"cuGraphExecEventWaitNodeSetEvent", 11010, address(cuGraphExecEventWaitNodeSetEvent)},
    {"cuGraphGetId", 13010, address(cuGraphGetId)},
    {"cuGraphExecGetId", 13010, address(cuGraphExecGetId)},};

const Entry* find(const char* name, int version) {
  const Entry* best = nullptr;
  for (auto& entry : entries) {
    if (entry.since <= version && !strcmp(entry.name, name) && (!best || entry.since > best->since)) best = &entry;
  }
  return best;
}

}  // namespace

#define EAGLE_VISIBLE __attribute__((visibility("default")))

extern "C" EAGLE_VISIBLE CUresult cuGetProcAddress_v2(const char* name, void** out, int version, cuuint64_t flags,
                                                     CUdriverProcAddressQueryResult* status) {
  // CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM: the functions found take stream 0 for the per-thread stream. One
  // program looks all of them up the same way, so it is remembered for all.
  if (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) eagle::emu::let_null_be_per_thread();
  // "If the specified CUDA version is greater than the driver version, the API will return CUDA_ERROR_INVALID_VALUE."
  *out = nullptr;
  if (version > eagle::emu::driver_version()) return CUDA_ERROR_INVALID_VALUE;
  const Entry* entry = find(name, version);
  if (entry) *out = entry->function;
  if (!strcmp(name, "cuGetProcAddress")) *out = address(cuGetProcAddress_v2);
  if (!strcmp(name, "cuGetExportTable")) *out = address(cuGetExportTable);
  if (status) *status = *out ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return *out ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

// NVIDIA's own NVRTC, where a test loads it beside this, asks for a table of private functions. There is none.
extern "C" EAGLE_VISIBLE CUresult cuGetExportTable(const void** table, const CUuuid*) {
  static const size_t none[8] = {sizeof none};
  *table = none;
  return CUDA_ERROR_NOT_FOUND;
}
