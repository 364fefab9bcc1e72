// Enough of CUDA to run a kernel on the CPU, one block after the other, one thread per CUDA thread.
#include <barrier>
#include <cmath>
#include <memory>
#include <thread>
#include <vector>

struct Index { unsigned x, y, z; };
static thread_local Index threadIdx, blockIdx;
static Index gridDim;
static std::unique_ptr<std::barrier<>> block_barrier;

#define __global__
#define __device__
#define __forceinline__ inline
#define __shared__ static
#define __align__(bytes) alignas(bytes)
#define __launch_bounds__(threads)
#define __ldg(pointer) (*(pointer))
static void __syncthreads() { block_barrier->arrive_and_wait(); }

template <class Body>
static void launch(Index grid, unsigned threads, Body body) {
  gridDim = grid;
  for (unsigned z = 0; z < grid.z; ++z)
    for (unsigned y = 0; y < grid.y; ++y)
      for (unsigned x = 0; x < grid.x; ++x) {
        block_barrier = std::make_unique<std::barrier<>>(threads);
        std::vector<std::thread> crew;
        for (unsigned t = 0; t < threads; ++t)
          crew.emplace_back([=] {
            threadIdx = {t, 0, 0};
            blockIdx = {x, y, z};
            body();
          });
        for (auto& thread : crew) thread.join();
      }
}

#include KERNELS

extern "C" void emulate_rollout(unsigned x, unsigned y, unsigned z, unsigned threads,
    const float* a, const float* b, float* c, float* d, int e, int f, int g, float h, float i,
    unsigned j, unsigned k, const long long* l, const long long* m) {
  launch({x, y, z}, threads, [=] { rollout(a, b, c, d, e, f, g, h, i, j, k, l, m); });
}
extern "C" void emulate_adjoint(unsigned x, unsigned y, unsigned z, unsigned threads,
    const float* a, const float* b, const float* c, float* d, float* e, int f, int g, float h) {
  launch({x, y, z}, threads, [=] { adjoint(a, b, c, d, e, f, g, h); });
}
extern "C" void emulate_path(unsigned x, unsigned y, unsigned z, unsigned threads,
    const float* a, const float* b, const float* c, const float* d, const float* e, float* f,
    float* g, float* h, int i, int j, float k, float l, float m) {
  launch({x, y, z}, threads, [=] { path(a, b, c, d, e, f, g, h, i, j, k, l, m); });
}
