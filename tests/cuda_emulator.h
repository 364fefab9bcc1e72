// Enough of CUDA to run a kernel on the CPU, one block after the other, one thread per CUDA thread.
// Compiled with RUNTIME it is the threads and their barrier; else a kernel, the source KERNELS with
// its entry KERNEL, which links to them and is compiled without their headers.
struct Index { unsigned x, y, z; };
extern thread_local Index threadIdx, blockIdx;
extern Index gridDim;
void __syncthreads();
void run_threads(Index grid, unsigned threads, void (*body)(void**), void** arguments);

#ifdef RUNTIME

#include <barrier>
#include <memory>
#include <thread>
#include <vector>

thread_local Index threadIdx, blockIdx;
Index gridDim;
static std::unique_ptr<std::barrier<>> block_barrier;

void __syncthreads() { block_barrier->arrive_and_wait(); }

void run_threads(Index grid, unsigned threads, void (*body)(void**), void** arguments) {
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
            body(arguments);
          });
        for (auto& thread : crew) thread.join();
      }
}

#else

// Declared, not included: <math.h> takes longer to read than a kernel to compile.
extern "C" {
float fabsf(float), sinhf(float), coshf(float), tanhf(float), atanf(float), atan2f(float, float);
double sqrt(double), log(double);
void sincosf(float, float*, float*), sincos(double, double*, double*);
}

#define __global__
#define __device__
#define __forceinline__ inline
#define __shared__ static
#define __align__(bytes) alignas(bytes)
#define __launch_bounds__(threads)
#define __ldg(pointer) (*(pointer))

#include KERNELS

// Any kernel, its arguments given by their addresses, as to cuLaunchKernel.
template <int... I> struct Places {};
template <int Left, int... I> struct Count : Count<Left - 1, Left - 1, I...> {};
template <int... I> struct Count<0, I...> { using All = Places<I...>; };

template <class... A, int... I>
static void call(void (*kernel)(A...), void** arguments, Places<I...>) {
  kernel(*static_cast<A*>(arguments[I])...);
}

template <class... A>
static void call(void (*kernel)(A...), void** arguments) {
  call(kernel, arguments, typename Count<sizeof...(A)>::All());
}

extern "C" void emulate(unsigned x, unsigned y, unsigned z, unsigned threads, void** arguments) {
  run_threads({x, y, z}, threads, [](void** found) { call(KERNEL, found); }, arguments);
}

#endif
