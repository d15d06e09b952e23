// Whether NumPy arrays are still where they were when code was made for their addresses.
#pragma once

#include <Python.h>
#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace eagle::python {

namespace nb = nanobind;

// The beginning of NumPy's PyArrayObject, which is part of its binary interface and the same in NumPy 1 and 2. Asking NumPy
// for an address takes 0.9 us from Python; these reads take a nanosecond.
struct ArrayHead {
    PyObject_HEAD
    char* data;
    int axes;
    Py_ssize_t* shape;
    Py_ssize_t* strides;
};

// Arrays with the place each of them must have. `resize` moves an array, or shrinks it where it is, even while others hold
// on to it, so this is compared before every run.
class Planes {
  public:
    // Without strides they may be any: so it is with an array that matters only as the owner of others' memory.
    void add(nb::handle array, uintptr_t address, const std::vector<Py_ssize_t>& shape,
             const std::optional<std::vector<Py_ssize_t>>& strides) {
        planes_.push_back(
            {nb::borrow(array), reinterpret_cast<char*>(address), shape.size(), extents_.size(), strides.has_value()});
        extents_.insert(extents_.end(), shape.begin(), shape.end());
        if (strides) extents_.insert(extents_.end(), strides->begin(), strides->end());
    }

    std::size_t size() const noexcept { return planes_.size(); }

    // The first plane that is not in its place; size() when all are.
    std::size_t first_moved() const noexcept {
        std::size_t i = 0;
        while (i < planes_.size() && in_place(planes_[i])) ++i;
        return i;
    }

    bool in_place(std::size_t plane) const noexcept { return in_place(planes_[plane]); }

    int traverse(visitproc visit, void* arg) const {
        for (const Plane& plane : planes_) Py_VISIT(plane.array.ptr());
        return 0;
    }
    void clear() noexcept { planes_.clear(); }

  private:
    struct Plane {
        nb::object array;
        char* data;
        std::size_t axes, extents;    // shape, then strides, from extents_[extents] on
        bool has_strides;
    };

    bool in_place(const Plane& plane) const noexcept {
        const auto* head = reinterpret_cast<const ArrayHead*>(plane.array.ptr());
        if (head->data != plane.data || static_cast<std::size_t>(head->axes) != plane.axes) return false;
        const Py_ssize_t* expected = extents_.data() + plane.extents;
        for (std::size_t i = 0; i < plane.axes; ++i)
            if (head->shape[i] != expected[i]) return false;
        if (!plane.has_strides) return true;
        for (std::size_t i = 0; i < plane.axes; ++i)
            if (head->strides[i] != expected[plane.axes + i]) return false;
        return true;
    }

    std::vector<Plane> planes_;
    std::vector<Py_ssize_t> extents_;
};

}  // namespace eagle::python
