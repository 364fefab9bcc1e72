// One step of a rollout, `step_forward`, and its adjoint, `step_back`, for networks that do not fit
// into a block: one launch per step. Compiled behind common.cuh; gpu_steps.py launches them and
// reference.py defines the results.
//
// Arrays are (R, N, C): the C = replicates x batch samples of an oscillator lie side by side, and a
// warp takes one oscillator in 32 of them. States are (R, N, 2, C), sine and cosine. With SPARSE a
// warp sums over the edges of its oscillator, matrices (R, M); without, the products are given,
// (COMPONENTS, R, N, 2, C). Set by the compiler options beside those of common.cuh: WARPS of a
// block, SPARSE, DRIVE, TAPE, NOISE, NOISE_VARIES.

#define THREADS (32 * WARPS)

struct MatrixSums { float* of[MATRICES]; };

// The oscillator and the sample of a thread. A lane beyond the last sample repeats it: the sums
// over a warp need all lanes.
struct Place {
  int i, run, column;
  bool exists;
  long long oscillator, index, pair;  // in arrays (R, N), (R, N, C) and (R, N, 2, C)
};

__device__ __forceinline__ Place place_of(int n, int columns) {
  Place x;
  x.i = blockIdx.x * WARPS + threadIdx.x / 32;
  x.run = blockIdx.z;
  x.column = blockIdx.y * 32 + threadIdx.x % 32;
  x.exists = x.column < columns;
  if (!x.exists) x.column = columns - 1;
  x.oscillator = (long long)x.run * n + x.i;
  x.index = x.oscillator * columns + x.column;
  x.pair = 2 * x.oscillator * columns + x.column;
  return x;
}

// Values of local terms (R, N, batch), or (R, N, 1) if their bit of `shared` is set; those of
// velocities times dt.
__device__ __forceinline__ void read_locals(float* values, const Locals& locals, unsigned shared,
                                            const Place& x, int batch, float time_step) {
#pragma unroll
  for (int l = 0; l < LOCALS; ++l) {
    long long source = bit(shared, l) ? x.oscillator : x.oscillator * batch + x.column % batch;
    values[l] = (bit(VELOCITIES, l) ? time_step : 1.0f) * locals.of[l][source];
  }
}

// fields, local terms and drive (R, N, batch), state `now` before step k -> theta, in place, and the
// state `next` after it, also that of twice the angles, `next_twice`, unless SPARSE; `recorded` (R,
// N, C) unless it is null; with TAPE the diagonal of the step's derivative. scale = mu dt.
extern "C" __global__ void __launch_bounds__(THREADS)
step_forward(float* theta, const float* now, float* next, float* next_twice, float* diagonal,
        float* recorded, const float* products, Matrices matrices, const int* starts,
        const int* neighbours, int edges, const float* factors, const float* fields, Locals locals,
        unsigned shared, Schedules schedules, const float* drive, int n, int columns, int batch,
        int k, float scale, float time_step, float deviation, const float* deviations,
        unsigned noise_first, unsigned key0, unsigned key1, const long long* replicates,
        const long long* samples) {
  Place x = place_of(n, columns);
  if (x.i >= n || !x.exists) return;
  Pair sums[COMPONENTS];
#pragma unroll
  for (int q = 0; q < COMPONENTS; ++q) sums[q] = Pair{0.0f, 0.0f};
#if SPARSE
  const float* others = now + 2ll * x.run * n * columns + x.column;
  int last = starts[x.i + 1];
#pragma unroll 4
  for (int e = starts[x.i]; e < last; ++e) {
    const float* other = others + 2ll * __ldg(neighbours + e) * columns;
    float s = __ldg(other), c = __ldg(other + columns);
#pragma unroll
    for (int q = 0; q < COMPONENTS; ++q) {
      Pair angle = multiple_angle(q, s, c);
      float weight = __ldg(matrices.of[matrix_of(q)] + (long long)x.run * edges + e);
      sums[q].s += weight * angle.s;
      sums[q].c += weight * angle.c;
    }
  }
#else
#pragma unroll
  for (int q = 0; q < COMPONENTS; ++q) {
    const float* product = products + 2ll * q * gridDim.z * n * columns + x.pair;
    sums[q] = Pair{product[0], product[columns]};
  }
#endif
  float s = now[x.pair], c = now[x.pair + columns], values[LOCAL_SLOTS];
  float by_couplings = factor_at(schedules, COUPLINGS, k);
  Products all;
#pragma unroll
  for (int q = 0; q < COMPONENTS; ++q) {
    Pair sum = rotated(q, factors_of(factors, x.run, q), sums[q]);
    add_product(all, q, Pair{by_couplings * sum.s, by_couplings * sum.c}, s, c);
  }
  long long source = x.oscillator * batch + x.column % batch;
  float b = factor_at(schedules, FIELDS, k) * fields[source];
#if DRIVE
  b += drive[source];
#endif
  read_locals(values, locals, shared, x, batch, time_step);
#pragma unroll
  for (int l = 0; l < LOCALS; ++l) values[l] *= factor_at(schedules, FIRST_LOCAL + l, k);
#if TAPE
  diagonal[x.index] = diagonal_of(s, c, b, all, values);
#endif
  float angle = theta[x.index] + increment(s, c, b, all, values, scale);
#if NOISE
  float eta[2];
  unsigned step = noise_first + k, words[4];
  random_words(step / 4, x.i, (unsigned)samples[x.column % batch], (unsigned)replicates[x.column],
               key0, key1, words);
  bool second = step % 4 > 1;
  box_muller(second ? words[2] : words[0], second ? words[3] : words[1], eta);
#if NOISE_VARIES
  deviation = deviations[k];
#endif
  angle += deviation * eta[step % 2];
#endif
  sincosf(angle, &s, &c);
#if NOISE
  angle = atan2f(s, c);
#endif
  theta[x.index] = angle;
  next[x.pair] = s;
  next[x.pair + columns] = c;
#if DOUBLED && !SPARSE
  next_twice[x.pair] = 2.0f * s * c;
  next_twice[x.pair + columns] = c * c - s * s;
#endif
  if (recorded) recorded[x.index] = angle;
}

// lambda_{k+1}, the state `now` before step k and its diagonal -> lambda_k, with `added` (R, N, C)
// unless it is null, and what step k adds to the gradients: by_fields, by_locals and by_drive (R, N,
// C), by_factors (chunks, R, N, COMPONENTS, 2) where chunks have 32 samples. With SPARSE also
// by_matrices (chunks, R, M), of which `reverse` has the position of the edge (j, i) of (i, j).
// Without, q S and q C of the step before, from its state `before`: `pull` and `pull_twice`.
// by_schedules (scheduled, chunks, R, N) has the summands of this step.
extern "C" __global__ void __launch_bounds__(THREADS)
step_back(const float* lambda_next, float* lambda, const float* now, const float* before,
        float* pull, float* pull_twice, const float* diagonal, const float* added,
        const float* products, Matrices matrices, const int* starts, const int* neighbours,
        const int* reverse, int edges, const float* factors, const float* fields, Locals locals,
        unsigned shared, Schedules schedules, float* by_fields, LocalSums by_locals,
        float* by_factors, MatrixSums by_matrices, float* by_schedules, float* by_drive, int n,
        int columns, int batch, int k, float scale, float time_step) {
  Place x = place_of(n, columns);
  if (x.i >= n) return;
  bool first = threadIdx.x % 32 == 0;
  float s = now[x.pair], c = now[x.pair + columns];
  float old = lambda_next[x.index], q = x.exists ? -scale * old : 0.0f;
  float by_couplings = factor_at(schedules, COUPLINGS, k);
  Pair by[COMPONENTS], sums[COMPONENTS];
#pragma unroll
  for (int p = 0; p < COMPONENTS; ++p) {
    by[p] = factors_of(factors, x.run, p);
    sums[p] = Pair{0.0f, 0.0f};
  }
  long long chunk = (long long)blockIdx.y * gridDim.z + x.run;
#if SPARSE
  Pair own[COMPONENTS];
#pragma unroll
  for (int p = 0; p < COMPONENTS; ++p) {
    Pair angle = multiple_angle(p, s, c);
    Pair turned = rotated(p, Pair{by[p].s, -by[p].c}, Pair{q * angle.s, q * angle.c});
    own[p] = Pair{by_couplings * turned.s, by_couplings * turned.c};
  }
  long long base = (long long)x.run * n * columns + x.column;
  int last = starts[x.i + 1], lane = threadIdx.x % 32;
  for (int tile = starts[x.i]; tile < last; tile += 32) {  // each lane keeps the sums of an edge
    float kept[MATRICES];
#pragma unroll
    for (int m = 0; m < MATRICES; ++m) kept[m] = 0.0f;
    int end = tile + 32 < last ? tile + 32 : last;
#pragma unroll 2
    for (int e = tile; e < end; ++e) {
      long long j = (long long)__ldg(neighbours + e) * columns;
      const float* other = now + base + (long long)x.run * n * columns + 2 * j;
      float other_s = __ldg(other), other_c = __ldg(other + columns);
      float other_q = -scale * __ldg(lambda_next + base + j), by_matrix[MATRICES];
      long long back = (long long)x.run * edges + __ldg(reverse + e);
#pragma unroll
      for (int m = 0; m < MATRICES; ++m) by_matrix[m] = 0.0f;
#pragma unroll
      for (int p = 0; p < COMPONENTS; ++p) {
        Pair angle = multiple_angle(p, other_s, other_c);
        float weight = __ldg(matrices.of[matrix_of(p)] + back) * other_q;
        sums[p].s += weight * angle.s;
        sums[p].c += weight * angle.c;
        by_matrix[matrix_of(p)] += own[p].s * angle.c - own[p].c * angle.s;
      }
#pragma unroll
      for (int m = 0; m < MATRICES; ++m) {
        float total = warp_sum(by_matrix[m]);
        if (lane == e - tile) kept[m] = total;
      }
    }
    if (tile + lane < end) {
#pragma unroll
      for (int m = 0; m < MATRICES; ++m)
        by_matrices.of[m][chunk * edges + tile + lane] += kept[m];
    }
  }
#else
#pragma unroll
  for (int p = 0; p < COMPONENTS; ++p) {
    const float* product = products + 2ll * p * gridDim.z * n * columns + x.pair;
    sums[p] = Pair{product[0], product[columns]};
  }
#endif
  float change = q * diagonal[x.index], by_time[SCHEDULES], values[LOCAL_SLOTS];
#pragma unroll
  for (int f = 0; f < SCHEDULES; ++f) by_time[f] = 0.0f;
  long long node = chunk * n + x.i;
#pragma unroll
  for (int p = 0; p < COMPONENTS; ++p) {
    Pulled sum = pulled(p, by[p], multiple_angle(p, s, c), sums[p].s, sums[p].c);
    change -= by_couplings * sum.phase;
    by_time[COUPLINGS] += x.exists ? sum.torque : 0.0f;
    if (bit(FACTORED, p)) {
      float odd = warp_sum(x.exists ? by_couplings * sum.odd : 0.0f);
      float even = warp_sum(x.exists ? by_couplings * sum.even : 0.0f);
      if (first) {
        by_factors[(node * COMPONENTS + p) * 2] += odd;
        by_factors[(node * COMPONENTS + p) * 2 + 1] += even;
      }
    }
  }
  if (SCHEDULED) {
    by_time[FIELDS] = q * s * fields[x.oscillator * batch + x.column % batch];
    read_locals(values, locals, shared, x, batch, time_step);
  }
#pragma unroll
  for (int l = 0; l < LOCALS; ++l) {
    float term = local_pull(l, s, c, q, x.exists ? old : 0.0f);
    float step = bit(VELOCITIES, l) ? time_step : 1.0f;
    by_time[FIRST_LOCAL + l] = bit(SCHEDULED, FIRST_LOCAL + l) ? term * values[l] : 0.0f;
    if (x.exists)
      by_locals.of[l][x.index] += factor_at(schedules, FIRST_LOCAL + l, k) * (step * term);
  }
#pragma unroll
  for (int f = 0; f < SCHEDULES; ++f) {
    if (!bit(SCHEDULED, f)) continue;
    float total = warp_sum(by_time[f]);
    long long chunks = (long long)scheduled_before(f) * gridDim.y * gridDim.z;
    if (first) by_schedules[chunks * n + node] = total;
  }
  if (!x.exists) return;
  by_fields[x.index] += factor_at(schedules, FIELDS, k) * (q * s);
#if DRIVE
  by_drive[x.index] += q * s;
#endif
  float result = old + change;
  if (added) result += added[x.index];
  lambda[x.index] = result;
#if !SPARSE
  if (before) {
    float q_before = -scale * result, s_before = before[x.pair], c_before = before[x.pair + columns];
    pull[x.pair] = q_before * s_before;
    pull[x.pair + columns] = q_before * c_before;
#if DOUBLED
    pull_twice[x.pair] = q_before * (2.0f * s_before * c_before);
    pull_twice[x.pair + columns] = q_before * (c_before * c_before - s_before * s_before);
#endif
  }
#endif
}
