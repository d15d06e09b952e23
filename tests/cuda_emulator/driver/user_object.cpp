#include "user_object.hpp"

#include <set>

#include "callbacks.hpp"
#include "entry.hpp"

namespace eagle::emu {
namespace {
std::set<CUuserObject> user_objects;
}

CUuserObject create_user_object(void* pointer, CUhostFn destroy, unsigned references) {
  require(destroy && references > 0, CUDA_ERROR_INVALID_VALUE);
  auto* object = new CUuserObject_st{pointer, destroy, references};
  user_objects.insert(object);
  return object;
}

CUuserObject find_user_object(CUuserObject handle) {
  require(user_objects.count(handle), CUDA_ERROR_INVALID_VALUE);
  return handle;
}

void retain_user_object(CUuserObject object, unsigned count) { object->references += count; }

void release_user_object(CUuserObject object, unsigned count) {
  // cuUserObjectRelease: releasing more references than there are is undefined; here it is refused.
  require(count <= object->references, CUDA_ERROR_INVALID_VALUE);
  if (object->references -= count) return;
  callbacks().call_later([destroy = object->destroy, pointer = object->pointer] { destroy(pointer); });
  user_objects.erase(object);
  delete object;
}

long live_user_objects() { return user_objects.size(); }

UserObjects& UserObjects::operator=(const UserObjects& other) {
  if (this == &other) return *this;
  clear();
  held_ = other.held_;
  for (auto& [object, count] : held_) retain_user_object(object, count);
  return *this;
}

void UserObjects::release(CUuserObject object, unsigned count) {
  auto found = held_.find(object);
  require(found != held_.end() && found->second >= count, CUDA_ERROR_INVALID_VALUE);
  if (!(found->second -= count)) held_.erase(found);
  release_user_object(object, count);
}

void UserObjects::clear() {
  for (auto& [object, count] : held_) release_user_object(object, count);
  held_.clear();
}

}  // namespace eagle::emu
