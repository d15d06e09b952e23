// User objects: things of the program whose life a graph holds on to.
#pragma once
#include <cuda.h>

#include <map>

struct CUuserObject_st {
  void* pointer;
  CUhostFn destroy;
  unsigned references;
};

namespace eagle::emu {

CUuserObject create_user_object(void* pointer, CUhostFn destroy, unsigned references);
CUuserObject find_user_object(CUuserObject handle);
void retain_user_object(CUuserObject object, unsigned count);
// Calls the destructor, on the callback thread, when it was the last reference.
void release_user_object(CUuserObject object, unsigned count);
long live_user_objects();

// The references one graph or executable holds; copying it copies them.
class UserObjects {
 public:
  UserObjects() = default;
  UserObjects(const UserObjects& other) { *this = other; }
  UserObjects& operator=(const UserObjects& other);
  ~UserObjects() { clear(); }

  void adopt(CUuserObject object, unsigned count) { held_[object] += count; }
  void release(CUuserObject object, unsigned count);

 private:
  void clear();

  std::map<CUuserObject, unsigned> held_;
};

}  // namespace eagle::emu
