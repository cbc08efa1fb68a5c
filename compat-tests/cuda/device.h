// The few functions of the GPU driver that a client of GPU objects needs. The official client
// library loads the driver, so they are looked up by name, and nothing of CUDA is needed to
// compile a program.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace device {

template <typename Function>
Function* Find(const char* name) {
  void* found = dlsym(RTLD_DEFAULT, name);
  if (found == nullptr) {
    std::fprintf(stderr, "the driver has no %s\n", name);
    std::exit(2);
  }
  return reinterpret_cast<Function*>(found);
}

inline void Check(int code, const char* what) {
  if (code != 0) {
    std::fprintf(stderr, "%s fails: error %d of the driver\n", what, code);
    std::exit(1);
  }
}

// Makes this thread one that uses a device.
inline void Use(int ordinal) {
  static auto init = Find<int(unsigned)>("cuInit");
  static auto get = Find<int(int*, int)>("cuDeviceGet");
  static auto retain = Find<int(void**, int)>("cuDevicePrimaryCtxRetain");
  static auto set_current = Find<int(void*)>("cuCtxSetCurrent");
  int number = 0;
  void* context = nullptr;
  Check(init(0), "cuInit");
  Check(get(&number, ordinal), "cuDeviceGet");
  Check(retain(&context, number), "cuDevicePrimaryCtxRetain");
  Check(set_current(context), "cuCtxSetCurrent");
}

inline void CopyIn(uint64_t to, const void* from, size_t bytes) {
  static auto copy = Find<int(uint64_t, const void*, size_t)>("cuMemcpyHtoD_v2");
  if (bytes > 0) Check(copy(to, from, bytes), "cuMemcpyHtoD_v2");
}

inline void CopyOut(void* to, uint64_t from, size_t bytes) {
  static auto copy = Find<int(void*, uint64_t, size_t)>("cuMemcpyDtoH_v2");
  if (bytes > 0) Check(copy(to, from, bytes), "cuMemcpyDtoH_v2");
}

// The memory of the current device that nobody has.
inline size_t FreeBytes() {
  static auto info = Find<int(size_t*, size_t*)>("cuMemGetInfo_v2");
  size_t free = 0, total = 0;
  Check(info(&free, &total), "cuMemGetInfo_v2");
  return free;
}

// Memory of the host that is copied from and to at full speed.
inline void* AllocateHost(size_t bytes) {
  static auto allocate = Find<int(void**, size_t, unsigned)>("cuMemHostAlloc");
  void* start = nullptr;
  Check(allocate(&start, bytes, 1), "cuMemHostAlloc");
  return start;
}

}  // namespace device
