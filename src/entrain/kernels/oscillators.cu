// Rollouts of small oscillator networks, their exact discrete adjoint and the path loss: the whole
// loop over time in one launch. What is computed stands in reference.py; this file says how.
//
// A block carries S samples of one run through all steps. Its threads form an array of CHUNKS x N:
// thread (t, i) holds the couplings of oscillator i to the t-th chunk of columns in registers
// (HOLD) and multiplies them with sine and cosine of those columns, which the lanes of a warp read
// from shared memory at the same address. The partial sums of the chunks meet in shared memory,
// where thread (t, i) owns oscillator i of sample t: its phase, field and adjoint.
//
// Set by the compiler options: N oscillators, CHUNKS, COLUMNS per chunk, SLOTS (whole chunks), S <=
// CHUNKS samples per block, THREADS (CHUNKS x N in whole warps), HOLD; for the rollout TAPE,
// RECORD, NOISE.

struct __align__(8) Pair { float s, c; };
struct __align__(S > 1 ? 16 : 8) Row { Pair of[S]; };  // one oscillator in all samples: wide loads

__device__ __forceinline__ float coupling(const float* held, const float* couplings, int m, int j,
                                          int i) {
#if HOLD
  return held[m];
#else
  return (i < N && j < N) ? __ldg(couplings + j * N + i) : 0.0f;  // symmetric: coalesced over i
#endif
}

__device__ __forceinline__ void hold_row(float* held, const float* couplings, int t, int i) {
#if HOLD
#pragma unroll
  for (int m = 0; m < COLUMNS; ++m) {
    int j = t * COLUMNS + m;
    held[m] = (t < CHUNKS && j < N) ? couplings[j * N + i] : 0.0f;
  }
#endif
}

// Partial products of this thread's couplings with the rows of its columns, for every sample.
__device__ __forceinline__ void multiply(const float* held, const float* couplings, Row* rows,
                                         float (*partial)[S][2][N], int t, int i) {
  if (t >= CHUNKS) return;
  float by_s[S], by_c[S];
#pragma unroll
  for (int n = 0; n < S; ++n) by_s[n] = by_c[n] = 0.0f;
#pragma unroll
  for (int m = 0; m < COLUMNS; ++m) {
    int j = t * COLUMNS + m;
    float weight = coupling(held, couplings, m, j, i);
    Row row = rows[j];
#pragma unroll
    for (int n = 0; n < S; ++n) {
      by_s[n] += weight * row.of[n].s;
      by_c[n] += weight * row.of[n].c;
    }
  }
#pragma unroll
  for (int n = 0; n < S; ++n) {
    partial[t][n][0][i] = by_s[n];
    partial[t][n][1][i] = by_c[n];
  }
}

__device__ __forceinline__ float gather(float (*partial)[S][2][N], int n, int which, int i) {
  float sum = 0.0f;
#pragma unroll
  for (int t = 0; t < CHUNKS; ++t) sum += partial[t][n][which][i];
  return sum;
}

// d loss / d J_ij of one time: q_i (sin_i cos_j - cos_i sin_j), added up in registers.
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

// Sine and cosine after a turn by `delta`: short polynomials for the usual small turn (relative
// error 1e-8 at 0.2), afresh from `theta` for a large one and now and then against drift.
__device__ __forceinline__ void turn(float theta, float delta, bool afresh, float* s, float* c) {
  if (afresh || !(fabsf(delta) < 0.2f)) {
    sincosf(theta, s, c);
    return;
  }
  float square = delta * delta;
  float sine = delta * (1.0f + square * (-1.0f / 6 + square * (1.0f / 120 - square / 5040)));
  float versine = square * (0.5f + square * (-1.0f / 24 + square * (1.0f / 720)));
  float old_s = *s, old_c = *c;
  *s = old_s + (old_c * sine - old_s * versine);
  *c = old_c - (old_s * sine + old_c * versine);
}

#if NOISE
// Philox 4x32-10 and Box-Muller, as in physics/noise.py: four increments of steps 4 block ...
__device__ void increments(unsigned block, unsigned oscillator, unsigned sample, unsigned replicate,
                           unsigned k0, unsigned k1, float* eta) {
  unsigned c0 = block, c1 = oscillator, c2 = sample, c3 = replicate;
  for (int round = 0; round < 10; ++round) {
    unsigned long long low = 0xD2511F53ull * c0, high = 0xCD9E8D57ull * c2;
    c0 = (unsigned)(high >> 32) ^ c1 ^ k0;
    c1 = (unsigned)high;
    c2 = (unsigned)(low >> 32) ^ c3 ^ k1;
    c3 = (unsigned)low;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  unsigned words[4] = {c0, c1, c2, c3};
  for (int half = 0; half < 2; ++half) {
    double radius = sqrt(-2.0 * log((words[2 * half] + 0.5) / 4294967296.0));
    double angle = 6.283185307179586 / 4294967296.0 * (words[2 * half + 1] + 0.5);
    double s, c;
    sincos(angle, &s, &c);
    eta[2 * half] = (float)(radius * c);
    eta[2 * half + 1] = (float)(radius * s);
  }
}
#endif

// fields (R, batch, N), couplings (R, N, N) -> phases (R, rows, N), or (K + 1, R, rows, N) with
// RECORD; with TAPE also (R, rows, K, 3, N): sine, cosine and cos (b + J cos) + sin J sin before
// each step. rows = replicates x batch with NOISE, else batch. scale = mu dt.
extern "C" __global__ void __launch_bounds__(THREADS)
rollout(const float* fields, const float* couplings, float* phases, float* tape, int rows,
        int batch, int steps, float scale, float noise_scale, unsigned key0, unsigned key1,
        const long long* replicates, const long long* samples) {
  __shared__ Row rows_now[SLOTS];
  __shared__ float partial[CHUNKS][S][2][N];
  int t = threadIdx.x / N, i = threadIdx.x % N, run = blockIdx.y;
  int row = blockIdx.x * S + t;
  bool owner = t < S && row < rows;
  long long place = (long long)run * rows + row;
  const float* own_couplings = couplings + (long long)run * N * N;
  float held[COLUMNS];
  hold_row(held, own_couplings, t, i);
  clear(rows_now);
  __syncthreads();
  float theta = 1.57079632679489662f, s = 1.0f, c = 0.0f, b = 0.0f;
  sincosf(theta, &s, &c);
#if NOISE
  float eta[4];
  unsigned sample = 0, replicate = 0;
#endif
  if (owner) {
    b = fields[((long long)run * batch + row % batch) * N + i];
    rows_now[i].of[t] = Pair{s, c};
#if NOISE
    sample = (unsigned)samples[row % batch];
    replicate = (unsigned)replicates[row / batch];
#endif
#if RECORD
    phases[place * N + i] = theta;
#endif
  }
  for (int k = 0; k < steps; ++k) {
    __syncthreads();
    multiply(held, own_couplings, rows_now, partial, t, i);
    __syncthreads();
    if (owner) {
      float j_sin = gather(partial, t, 0, i), j_cos = gather(partial, t, 1, i);
#if TAPE
      float* slot = tape + (place * steps + k) * 3 * N + i;
      slot[0] = s;
      slot[N] = c;
      slot[2 * N] = c * (b + j_cos) + s * j_sin;
#endif
      float delta = -scale * (s * (b + j_cos) - c * j_sin);
#if NOISE
      if (k % 4 == 0) increments(k / 4, i, sample, replicate, key0, key1, eta);
      delta += noise_scale * eta[k % 4];
      theta += delta;
      sincosf(theta, &s, &c);
      theta = atan2f(s, c);
#else
      theta += delta;
      turn(theta, delta, k % 16 == 15, &s, &c);
#endif
      rows_now[i].of[t] = Pair{s, c};
#if RECORD
      phases[((long long)(k + 1) * gridDim.y * rows + place) * N + i] = theta;
#endif
    }
  }
#if !RECORD
  if (owner) phases[place * N + i] = theta;
#endif
}

// The adjoint: tape and final_gradient (R, rows, N) -> fields_gradient (R, rows, N), and the
// couplings' either as sums over each block's samples, outer (R, blocks, N, N) transposed (HOLD),
// or as q sin and q cos of every step, outer (R, rows, K, 2, N), for a matrix product to finish.
extern "C" __global__ void __launch_bounds__(THREADS)
adjoint(const float* couplings, const float* tape, const float* final_gradient,
        float* fields_gradient, float* outer, int rows, int steps, float scale) {
  __shared__ Row rows_now[SLOTS], q_rows[SLOTS];
  __shared__ float partial[CHUNKS][S][2][N];
  int t = threadIdx.x / N, i = threadIdx.x % N, run = blockIdx.y;
  int row = blockIdx.x * S + t;
  bool owner = t < S && row < rows;
  long long place = (long long)run * rows + row;
  const float* own_couplings = couplings + (long long)run * N * N;
  float held[COLUMNS];
  hold_row(held, own_couplings, t, i);
#if HOLD
  float sums[COLUMNS];
#pragma unroll
  for (int m = 0; m < COLUMNS; ++m) sums[m] = 0.0f;
#endif
  clear(rows_now);
  clear(q_rows);
  __syncthreads();
  float lambda = 0.0f, field_sum = 0.0f, s = 0.0f, c = 0.0f, diagonal = 0.0f, q = 0.0f;
  const float* slot = tape + (place * steps + steps - 1) * 3 * N + i;
  float next_s = 0.0f, next_c = 0.0f, next_diagonal = 0.0f;
  if (owner) {
    lambda = final_gradient[place * N + i];
    next_s = slot[0];
    next_c = slot[N];
    next_diagonal = slot[2 * N];
  }
  for (int k = steps - 1; k >= 0; --k) {
    if (owner) {
      s = next_s;
      c = next_c;
      diagonal = next_diagonal;
      q = -scale * lambda;
      field_sum += q * s;
      rows_now[i].of[t] = Pair{s, c};
      q_rows[i].of[t] = Pair{q * s, q * c};
      slot -= 3 * N;
      if (k > 0) {  // asked for early, needed one step later
        next_s = slot[0];
        next_c = slot[N];
        next_diagonal = slot[2 * N];
      }
#if !HOLD
      float* products = outer + (place * steps + k) * 2 * N + i;
      products[0] = q * s;
      products[N] = q * c;
#endif
    }
    __syncthreads();
    multiply(held, own_couplings, q_rows, partial, t, i);
#if HOLD
    add_outer(sums, rows_now, q_rows, t, i);
#endif
    __syncthreads();
    if (owner)
      lambda += q * diagonal - s * gather(partial, t, 0, i) - c * gather(partial, t, 1, i);
  }
  if (owner) fields_gradient[place * N + i] = field_sum;
#if HOLD
  store_outer(sums, outer + ((long long)run * gridDim.x + blockIdx.x) * N * N, t, i);
#endif
}

// L_path and its gradients along the teacher path of `coefficients` (R, rows, N), for the time
// nodes `times`, `weights` (T,), split over blockIdx.z. Losses and fields_gradient (Z, R, rows, N),
// outer (Z, R, blocks, N, N) transposed. gain = 2 mu dt / (B K N).
extern "C" __global__ void __launch_bounds__(THREADS)
path(const float* fields, const float* couplings, const float* coefficients, const float* times,
     const float* weights, float* losses, float* fields_gradient, float* outer, int rows, int nodes,
     float inverse_steps, float scale, float gain) {
  __shared__ Row rows_now[SLOTS], q_rows[SLOTS];
  __shared__ float partial[CHUNKS][S][2][N];
  int t = threadIdx.x / N, i = threadIdx.x % N, run = blockIdx.y;
  int row = blockIdx.x * S + t;
  bool owner = t < S && row < rows;
  long long place = (long long)run * rows + row;
  const float* own_couplings = couplings + (long long)run * N * N;
  float held[COLUMNS], sums[COLUMNS];
  hold_row(held, own_couplings, t, i);
#pragma unroll
  for (int m = 0; m < COLUMNS; ++m) sums[m] = 0.0f;
  clear(rows_now);
  clear(q_rows);
  __syncthreads();
  float b = 0.0f, alpha = 0.0f, step = 0.0f, rise = 0.0f, loss = 0.0f, field_sum = 0.0f;
  if (owner) {
    b = fields[place * N + i];
    alpha = coefficients[place * N + i];
    step = alpha * inverse_steps;
    rise = sinhf(0.5f * step);
  }
  for (int k = blockIdx.z; k < nodes; k += gridDim.z) {
    float s = 0.0f, c = 0.0f, increment = 0.0f;
    if (owner) {
      float position = times[k] * alpha;
      s = 1.0f / coshf(position);
      c = tanhf(position);
      increment = -2.0f * atanf(rise / coshf(position + 0.5f * step));
      rows_now[i].of[t] = Pair{s, c};
    }
    __syncthreads();
    multiply(held, own_couplings, rows_now, partial, t, i);
    __syncthreads();
    if (owner) {
      float torque = s * (b + gather(partial, t, 1, i)) - c * gather(partial, t, 0, i);
      float residual = increment + scale * torque;
      float q = weights[k] * gain * residual;
      loss += weights[k] * residual * residual;
      field_sum += q * s;
      q_rows[i].of[t] = Pair{q * s, q * c};
    }
    __syncthreads();
    add_outer(sums, rows_now, q_rows, t, i);
    __syncthreads();
  }
  long long part = (long long)blockIdx.z * gridDim.y;
  if (owner) {
    losses[(part * rows + place) * N + i] = loss;
    fields_gradient[(part * rows + place) * N + i] = field_sum;
  }
  store_outer(sums, outer + ((part + run) * gridDim.x + blockIdx.x) * N * N, t, i);
}
