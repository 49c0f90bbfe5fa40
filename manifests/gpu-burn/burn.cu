// GPU burn-in: every GPU that the container sees multiplies matrices for SECONDS seconds; each product is compared with
// the first one, bit by bit. A healthy GPU computes the same bits each time: any difference is a fault of the hardware.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include <cuda_runtime.h>

#define CHECK(call)                                                                                         \
    do {                                                                                                    \
        const cudaError_t result_ = (call);                                                                 \
        if (result_ != cudaSuccess) {                                                                       \
            std::fprintf(stderr, "gpu-burn: line %d: %s\n", __LINE__, cudaGetErrorString(result_));         \
            std::exit(2);                                                                                   \
        }                                                                                                   \
    } while (false)

constexpr int kSize = 4096;   // rows and columns of a matrix
constexpr int kTile = 128;    // rows and columns of the product that one block computes
constexpr int kDepth = 8;     // columns of A and rows of B in shared memory at a time
constexpr int kThread = 8;    // rows and columns that one thread computes

__global__ void fill(float* values, unsigned seed) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = (i + 1) * 2654435761u ^ seed;
    x ^= x >> 16;
    x *= 2246822519u;
    x ^= x >> 13;
    values[i] = static_cast<float>(x & 0xffff) / 65536.0f - 0.5f;
}

__global__ void __launch_bounds__(256) multiply(const float* a, const float* b, float* c) {
    __shared__ float as[kDepth][kTile];
    __shared__ float bs[kDepth][kTile];
    const int row = blockIdx.y * kTile, column = blockIdx.x * kTile, t = threadIdx.x;
    const int y = t / 16 * kThread, x = t % 16 * kThread;
    float sum[kThread][kThread] = {};
    for (int k = 0; k < kSize; k += kDepth) {
        for (int i = t; i < kTile * kDepth; i += 256) {
            as[i % kDepth][i / kDepth] = a[(row + i / kDepth) * kSize + k + i % kDepth];
            bs[i / kTile][i % kTile] = b[(k + i / kTile) * kSize + column + i % kTile];
        }
        __syncthreads();
        for (int d = 0; d < kDepth; ++d) {
            float left[kThread], right[kThread];
            for (int i = 0; i < kThread; ++i) {
                left[i] = as[d][y + i];
                right[i] = bs[d][x + i];
            }
            for (int i = 0; i < kThread; ++i)
                for (int j = 0; j < kThread; ++j) sum[i][j] += left[i] * right[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < kThread; ++i)
        for (int j = 0; j < kThread; ++j) c[(row + y + i) * kSize + column + x + j] = sum[i][j];
}

__global__ void compare(const float* expected, const float* actual, unsigned long long* errors) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (__float_as_uint(expected[i]) != __float_as_uint(actual[i])) atomicAdd(errors, 1ull);
}

int main(int argc, char** argv) {
    const long seconds = argc > 1 ? std::atol(argv[1]) : 60;
    const double memory_share = 0.9;  // of the free memory, so that the whole memory is written and read
    const size_t matrix = sizeof(float) * kSize * kSize;
    const dim3 grid(kSize / kTile, kSize / kTile);
    const int elements = kSize * kSize / 256;

    struct Gpu {
        float *a, *b;
        std::vector<float*> products;
        unsigned long long* errors;
        long count = 0;
    };
    int count = 0;
    CHECK(cudaGetDeviceCount(&count));
    std::vector<Gpu> gpus(count);
    for (int g = 0; g < count; ++g) {
        Gpu& gpu = gpus[g];
        cudaDeviceProp properties;
        size_t free = 0, total = 0;
        CHECK(cudaSetDevice(g));
        CHECK(cudaGetDeviceProperties(&properties, g));
        CHECK(cudaMemGetInfo(&free, &total));
        CHECK(cudaMalloc(&gpu.errors, sizeof(*gpu.errors)));
        CHECK(cudaMemset(gpu.errors, 0, sizeof(*gpu.errors)));
        CHECK(cudaMalloc(&gpu.a, matrix));
        CHECK(cudaMalloc(&gpu.b, matrix));
        const size_t products = static_cast<size_t>(free * memory_share) / matrix;
        for (size_t i = 2; i < products; ++i) {
            float* product = nullptr;
            if (cudaMalloc(&product, matrix) != cudaSuccess) {
                cudaGetLastError();  // another process (time-slicing, MPS) has the rest
                break;
            }
            gpu.products.push_back(product);
        }
        if (gpu.products.size() < 2) {
            std::fprintf(stderr, "gpu-burn: GPU %d has too little free memory: %zu MiB\n", g, free >> 20);
            return 2;
        }
        fill<<<elements, 256>>>(gpu.a, 1u);
        fill<<<elements, 256>>>(gpu.b, 2u);
        multiply<<<grid, 256>>>(gpu.a, gpu.b, gpu.products[0]);
        CHECK(cudaDeviceSynchronize());
        std::printf("GPU %d: %s, %zu MiB under test\n", g, properties.name, (gpu.products.size() + 2) * matrix >> 20);
    }

    bool failed = false;
    const time_t end = time(nullptr) + seconds;
    time_t report = time(nullptr) + 10;
    while (time(nullptr) < end && !failed) {
        for (int g = 0; g < count; ++g) {
            Gpu& gpu = gpus[g];
            CHECK(cudaSetDevice(g));
            for (int i = 0; i < 8; ++i) {
                float* product = gpu.products[1 + gpu.count++ % (gpu.products.size() - 1)];
                multiply<<<grid, 256>>>(gpu.a, gpu.b, product);
                compare<<<elements, 256>>>(gpu.products[0], product, gpu.errors);
            }
        }
        for (int g = 0; g < count; ++g) {
            unsigned long long errors = 0;
            CHECK(cudaSetDevice(g));
            CHECK(cudaMemcpy(&errors, gpus[g].errors, sizeof(errors), cudaMemcpyDeviceToHost));
            failed = failed || errors != 0;
            if (errors != 0 || time(nullptr) >= report)
                std::printf("GPU %d: %ld products, %llu wrong values\n", g, gpus[g].count, errors);
        }
        if (time(nullptr) >= report) report = time(nullptr) + 10;
        std::fflush(stdout);
    }
    const double operations = 2.0 * kSize * kSize * kSize;
    for (int g = 0; g < count; ++g)
        std::printf("GPU %d: %ld products, %.1f TFLOP/s\n", g, gpus[g].count, gpus[g].count * operations / seconds * 1e-12);
    std::printf("%s\n", failed ? "FAILED" : "Test PASSED");
    return failed ? 1 : 0;
}
