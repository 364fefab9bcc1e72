// The layout of a block of threads, which takes oscillator networks through time. rollout.cu,
// adjoint.cu and path.cu are each compiled behind common.cuh and this file, with the loop over time
// in one launch. reference.py defines the results.
//
// A block carries S samples of one run through all steps. Its threads form an array of CHUNKS x N:
// thread (t, i) holds the couplings of oscillator i to the t-th chunk of columns in registers
// (HOLD) and multiplies them with sine and cosine of those columns, which the lanes of a warp read
// from shared memory at the same address. The partial sums of the chunks are exchanged in shared
// memory. Thread (t, i) owns oscillator i of sample t, and of t + CHUNKS, ... if there are more
// samples than chunks: its phase, field and adjoint.
//
// Set by the compiler options: N oscillators, CHUNKS, COLUMNS per chunk, SLOTS (whole chunks), S
// samples per block, THREADS (CHUNKS x N in whole warps), HOLD. Options: START and DRIVE of a model;
// TAPE, RECORD, NOISE and NOISE_VARIES in the rollout, PATH_GRADIENT in the adjoint. Code of macros
// that are not set is not compiled.

#ifdef REGISTERS  // for each thread, a compiler option that bounds would override
#define BOUNDS
#elif HOLD && COLUMNS <= 32 && MATRICES == 1 && (SCHEDULED || DRIVE)
#define BOUNDS __launch_bounds__(THREADS, 2)  // as without a schedule: two blocks to a processor
#else
#define BOUNDS __launch_bounds__(THREADS)
#endif

constexpr int OWNED = (S + CHUNKS - 1) / CHUNKS;        // samples of a thread, at most
constexpr int UNROLLED = COLUMNS <= 64 ? COLUMNS : 16;  // a short row, or a piece of a long one

struct __align__(S > 1 ? 16 : 8) Row { Pair of[S]; };  // one oscillator in all samples: wide loads

// Partial sums of several chunks are in shared memory; those of a single chunk in the registers of
// the thread, which owns all samples of its oscillator.
#if CHUNKS > 1
#define PARTIAL_STORAGE __shared__
struct Partial { float of[CHUNKS][S][2][N]; };
__device__ __forceinline__ float& partial_sum(Partial& sums, int t, int n, int which, int i) {
  return sums.of[t][n][which][i];
}
#else
#define PARTIAL_STORAGE
struct Partial { float of[S][2]; };
__device__ __forceinline__ float& partial_sum(Partial& sums, int, int n, int which, int) {
  return sums.of[n][which];
}
#endif

// The o-th sample that thread (t, i) owns: its row among the `rows` of the run, its index among
// those of all runs, and true if it exists.
struct Sample {
  int row;
  long long index;
  bool exists;
};

// Its position in the block.
__device__ __forceinline__ int position(int t, int o) {
  return (CHUNKS > 1 ? t : 0) + o * CHUNKS;  // a constant for one chunk: sums stay in registers
}

__device__ __forceinline__ Sample owned_sample(int t, int o, int run, int rows) {
  int n = position(t, o), row = blockIdx.x * S + n;
  bool exists = t < CHUNKS && n < S && row < rows;
  return Sample{row, (long long)run * rows + row, exists};
}

// Neighbouring threads read couplings along i. For J^T x that is J itself. For J x a block of HOLD
// reads its row once, with stride N; a block without receives J^T (`transposed`), of which `column`
// is the part of this thread: row i of J from column t COLUMNS.
__device__ __forceinline__ float coupling(const float* held, const float* column, int m, int j) {
#if HOLD
  return held[m];
#else
  return (SLOTS == N || j < N) ? __ldg(column + m * N) : 0.0f;
#endif
}

__device__ __forceinline__ void hold_row(float* held, const float* couplings, int along_i,
                                         int along_j, int t, int i) {
#if HOLD
#pragma unroll
  for (int m = 0; m < COLUMNS; ++m) {
    int j = t * COLUMNS + m;
    held[m] = (t < CHUNKS && j < N) ? couplings[j * along_j + i * along_i] : 0.0f;
  }
#endif
}

// Partial products of this thread's couplings with the rows of its columns, for every sample.
__device__ __forceinline__ void multiply(const float* held, const float* transposed, Row* rows,
                                         Partial& partial, int t, int i) {
  if (t >= CHUNKS) return;
  const float* column = transposed + t * COLUMNS * N + i;
#if !HOLD && defined(__CUDA_ARCH__)
  asm("" : "+l"(column));  // in a register: the compiler would compute it again for every m
#endif
  float by_s[S], by_c[S];
#pragma unroll
  for (int n = 0; n < S; ++n) by_s[n] = by_c[n] = 0.0f;
#pragma unroll UNROLLED
  for (int m = 0; m < COLUMNS; ++m) {
    int j = t * COLUMNS + m;
    float weight = coupling(held, column, m, j);
    Row row = rows[j];
#pragma unroll
    for (int n = 0; n < S; ++n) {
      by_s[n] += weight * row.of[n].s;
      by_c[n] += weight * row.of[n].c;
    }
  }
#pragma unroll
  for (int n = 0; n < S; ++n) {
    partial_sum(partial, t, n, 0, i) = by_s[n];
    partial_sum(partial, t, n, 1, i) = by_c[n];
  }
}

__device__ __forceinline__ float gather(Partial& partial, int n, int which, int i) {
  float sum = 0.0f;
#pragma unroll
  for (int t = 0; t < CHUNKS; ++t) sum += partial_sum(partial, t, n, which, i);
  return sum;
}

// d loss / d J_ij of one time: q_i (sin_i cos_j - cos_i sin_j), summed in registers; sin_j and
// cos_j in `rows` are those of theta_j - a with a lag.
__device__ __forceinline__ void add_outer(float* sums, Row* rows, Row* q_rows, int t, int i) {
  if (t >= CHUNKS) return;
  Row own = q_rows[i];
#pragma unroll
  for (int m = 0; m < COLUMNS; ++m) {
    Row row = rows[t * COLUMNS + m];
#pragma unroll
    for (int n = 0; n < S; ++n)
      sums[m] += own.of[n].s * row.of[n].c - own.of[n].c * row.of[n].s;
  }
}

__device__ __forceinline__ void store_outer(const float* sums, float* out, int t, int i) {
#pragma unroll
  for (int m = 0; m < COLUMNS; ++m) {
    int j = t * COLUMNS + m;
    if (t < CHUNKS && j < N) out[j * N + i] = sums[m];  // transposed: lanes write in a row
  }
}

__device__ __forceinline__ void clear(Row* rows) {
  Pair* pairs = &rows[0].of[0];
  for (int k = threadIdx.x; k < SLOTS * S; k += THREADS) pairs[k] = Pair{0.0f, 0.0f};
}

