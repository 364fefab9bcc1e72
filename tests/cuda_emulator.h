// Enough of CUDA to run a kernel on the CPU: one block after the other, its threads as contexts that
// take turns, each until it waits for the others. Compiled with RUNTIME it is the threads and their
// barriers; else a kernel, the source KERNELS with its entry KERNEL, which links to them and is
// compiled without their headers.
struct Index { unsigned x, y, z; };
extern Index threadIdx, blockIdx, gridDim;
void __syncthreads();
float __shfl_xor_sync(unsigned, float value, int mask);
void run_threads(Index grid, unsigned threads, void (*body)(void**), void** arguments);

#ifdef RUNTIME

#include <memory>
#include <ucontext.h>
#include <vector>

constexpr unsigned STACK = 1 << 17, MOST_THREADS = 1024;

struct Barrier { unsigned size, waiting, phase; };

Index threadIdx, blockIdx, gridDim;
static ucontext_t scheduler, contexts[MOST_THREADS];
static bool ended[MOST_THREADS];
static Barrier block_barrier, warp_barriers[MOST_THREADS / 32];
static float exchanged[MOST_THREADS];
static void (*current_body)(void**);
static void** current_arguments;

static void wait(Barrier& barrier) {
  unsigned phase = barrier.phase, self = threadIdx.x;
  if (++barrier.waiting == barrier.size) {
    barrier.waiting = 0;
    ++barrier.phase;
  }
  while (barrier.phase == phase) swapcontext(&contexts[self], &scheduler);
}

void __syncthreads() { wait(block_barrier); }

// All threads of a warp must call: the mask of participants is ignored.
float __shfl_xor_sync(unsigned, float value, int mask) {
  unsigned self = threadIdx.x;
  exchanged[self] = value;
  wait(warp_barriers[self / 32]);
  float result = exchanged[self ^ mask];
  wait(warp_barriers[self / 32]);
  return result;
}

static void enter() {
  current_body(current_arguments);
  ended[threadIdx.x] = true;
}

static void run_block(unsigned threads) {
  static std::unique_ptr<char[]> stacks(new char[(size_t)STACK * MOST_THREADS]);
  block_barrier = {threads, 0, 0};
  for (auto& warp : warp_barriers) warp = {32, 0, 0};
  for (unsigned t = 0; t < threads; ++t) {
    ended[t] = false;
    getcontext(&contexts[t]);
    contexts[t].uc_stack.ss_sp = &stacks[(size_t)STACK * t];
    contexts[t].uc_stack.ss_size = STACK;
    contexts[t].uc_link = &scheduler;
    makecontext(&contexts[t], enter, 0);
  }
  for (unsigned left = threads; left > 0;)
    for (unsigned t = 0; t < threads; ++t) {
      if (ended[t]) continue;
      threadIdx = {t, 0, 0};
      swapcontext(&scheduler, &contexts[t]);
      left -= ended[t];
    }
}

void run_threads(Index grid, unsigned threads, void (*body)(void**), void** arguments) {
  gridDim = grid;
  current_body = body;
  current_arguments = arguments;
  for (unsigned z = 0; z < grid.z; ++z)
    for (unsigned y = 0; y < grid.y; ++y)
      for (unsigned x = 0; x < grid.x; ++x) {
        blockIdx = {x, y, z};
        run_block(threads);
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
#define __launch_bounds__(...)
#define __ldg(pointer) (*(pointer))
#define __fsub_rn(a, b) ((a) - (b))

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
