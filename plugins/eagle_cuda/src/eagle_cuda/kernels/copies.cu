// A copy between two layouts, one element a thread.

typedef unsigned char byte_t;
typedef long long offset_t;

namespace eagle {

// The counts of the axes, outermost first, then the strides of both arrays in bytes.
struct Layout {
    offset_t count[8];
    offset_t from[8];
    offset_t into[8];
    int axes;
    int itemsize;
};

template <typename T>
__device__ inline void move(byte_t* into, const byte_t* from) {
    *reinterpret_cast<T*>(into) = *reinterpret_cast<const T*>(from);
}

// In the widest pieces both addresses are aligned for.
__device__ inline void move_element(byte_t* into, const byte_t* from, int size) {
    const unsigned long long low = reinterpret_cast<unsigned long long>(into) |
                                   reinterpret_cast<unsigned long long>(from) | static_cast<unsigned long long>(size);
    const int width = low % 8 == 0 ? 8 : low % 4 == 0 ? 4 : low % 2 == 0 ? 2 : 1;
    for (int i = 0; i < size; i += width) {
        if (width == 8) move<unsigned long long>(into + i, from + i);
        else if (width == 4) move<unsigned int>(into + i, from + i);
        else if (width == 2) move<unsigned short>(into + i, from + i);
        else move<byte_t>(into + i, from + i);
    }
}

}  // namespace eagle

extern "C" __global__ void eagle_copy(byte_t* into, const byte_t* from, const eagle::Layout* layout, offset_t total) {
    offset_t index = static_cast<offset_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index >= total) return;
    for (int axis = layout->axes - 1; axis >= 0; --axis) {
        const offset_t place = index % layout->count[axis];
        index /= layout->count[axis];
        from += place * layout->from[axis];
        into += place * layout->into[axis];
    }
    eagle::move_element(into, from, layout->itemsize);
}
