// The pull of a point mass on each of a batch of positions, added to what is there: a -= mu r / |r|^3.
//
// Vectors are component-major: component c of sample i is at [i + c * row]. A sample whose byte in `terminated` is not 0
// is left alone.

extern "C" __global__ void gravity(double* out, long long out_row, const double* position, long long row, double mu,
                                   const unsigned char* terminated, long long samples) {
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= samples || terminated[i] != 0) return;
    const double x = position[i], y = position[i + row], z = position[i + 2 * row];
    const double r2 = x * x + y * y + z * z;
    const double scale = -mu / (r2 * sqrt(r2));
    out[i] += scale * x;
    out[i + out_row] += scale * y;
    out[i + 2 * out_row] += scale * z;
}
