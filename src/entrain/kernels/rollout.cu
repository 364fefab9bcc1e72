// Sine and cosine after a rotation by `delta`: short polynomials for a small angle (relative error
// 1e-8 at 0.2), anew from `theta` for a large one and, against drift, every sixteen steps.
__device__ __forceinline__ void rotate(float theta, float delta, bool anew, float* s, float* c) {
  if (anew || !(fabsf(delta) < 0.2f)) {
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

// The state of an oscillator, in registers of its thread.
struct Oscillator {
  float theta, s, c, b;
  float values[LOCAL_SLOTS];  // of local terms; those of velocities times dt
#if NOISE
  unsigned sample, replicate;
#endif
};

// fields, local terms and start (R, batch, N), matrices (R, N, N), transposed unless HOLD, factors
// (R, COMPONENTS, 2), schedules (K,), drive (segments of `hold` steps, R, batch, N), of which
// `drive_first` steps are over -> phases (R, rows, N), or (K / record + 1, R, rows, N) with RECORD;
// with TAPE also (R, rows, K, 3, N): sine, cosine and the diagonal of the step's derivative before
// each step. rows = replicates x batch with NOISE, else batch. scale = mu dt. `deviation` of the
// increments, or `deviations` (K,) of each step; `noise_first` steps are over. Indices of the noise:
// replicates (rows,) and samples (batch,).
extern "C" __global__ void __launch_bounds__(THREADS)
rollout(const float* fields, Matrices matrices, const float* factors, float* phases, float* tape,
        int rows, int batch, int steps, int record, float scale, float time_step, Locals locals,
        const float* start, Schedules schedules, const float* drive, int hold, int drive_first,
        float deviation, const float* deviations, unsigned noise_first, unsigned key0,
        unsigned key1, const long long* replicates, const long long* samples) {
  __shared__ Row rows_now[SLOTS];
  PARTIAL_STORAGE Partial partial;
  int t = threadIdx.x / N, i = threadIdx.x % N, run = blockIdx.y;
  Sample owned[OWNED];
#pragma unroll
  for (int o = 0; o < OWNED; ++o) owned[o] = owned_sample(t, o, run, rows);
  const float* own[MATRICES];
  float held[MATRICES][COLUMNS];
#pragma unroll
  for (int m = 0; m < MATRICES; ++m) {
    own[m] = matrices.of[m] + (long long)run * N * N;
    hold_row(held[m], own[m], N, 1, t, i);
  }
  clear(rows_now);
  __syncthreads();
  Oscillator oscillators[OWNED];
  Pair by[COMPONENTS];
#pragma unroll
  for (int q = 0; q < COMPONENTS; ++q) by[q] = factors_of(factors, run, q);
#if NOISE
  float eta[OWNED][4];
#endif
#if DRIVE
  float driven[OWNED];
  int segment = drive_first / hold, left = 0, first_left = hold - drive_first % hold;
#endif
#if RECORD
  int until = record;
#endif
#pragma unroll
  for (int o = 0; o < OWNED; ++o) {
    const Sample& at = owned[o];
    Oscillator& x = oscillators[o];
    x.theta = 1.57079632679489662f;
    x.b = 0.0f;
#if NOISE
    x.sample = x.replicate = 0;
#endif
#if START
    if (at.exists) x.theta = start[((long long)run * batch + at.row % batch) * N + i];
#endif
    sincosf(x.theta, &x.s, &x.c);
    if (!at.exists) continue;
    long long source = ((long long)run * batch + at.row % batch) * N + i;
    x.b = fields[source];
#pragma unroll
    for (int l = 0; l < LOCALS; ++l)
      x.values[l] = (bit(VELOCITIES, l) ? time_step : 1.0f) * locals.of[l][source];
    rows_now[i].of[position(t, o)] = Pair{x.s, x.c};
#if NOISE
    x.sample = (unsigned)samples[at.row % batch];
    x.replicate = (unsigned)replicates[at.row];
#endif
#if RECORD
    phases[at.index * N + i] = x.theta;
#endif
  }
  for (int k = 0; k < steps; ++k) {
    float of_time[SCHEDULES];  // read before the products, which hide the latency
#pragma unroll
    for (int f = 0; f < SCHEDULES; ++f) of_time[f] = factor_at(schedules, f, k);
#if DRIVE
    if (left == 0) {
      if (k > 0) ++segment;
      left = k > 0 ? hold : first_left;
#pragma unroll
      for (int o = 0; o < OWNED; ++o) {
        long long row = ((long long)segment * gridDim.y + run) * batch + owned[o].row % batch;
        driven[o] = owned[o].exists ? drive[row * N + i] : 0.0f;
      }
    }
    --left;
#endif
    Products products[OWNED];
    auto gather_product = [&](int q, int o) {
      int n = position(t, o);
      Pair sums = rotated(q, by[q], Pair{gather(partial, n, 0, i), gather(partial, n, 1, i)});
      sums = Pair{of_time[COUPLINGS] * sums.s, of_time[COUPLINGS] * sums.c};
      add_product(products[o], q, sums, oscillators[o].s, oscillators[o].c);
    };
#pragma unroll
    for (int q = 0; q < COMPONENTS; ++q) {
      if (q > 0 && bit(DOUBLED, q) != bit(DOUBLED, q - 1)) {
#pragma unroll
        for (int o = 0; o < OWNED; ++o)
          if (owned[o].exists)
            rows_now[i].of[position(t, o)] = multiple_angle(q, oscillators[o].s, oscillators[o].c);
      }
      __syncthreads();
      multiply(held[matrix_of(q)], own[matrix_of(q)], rows_now, partial, t, i);
      __syncthreads();
#pragma unroll
      for (int o = 0; o < OWNED; ++o)
        if (q + 1 < COMPONENTS && owned[o].exists) gather_product(q, o);
    }
#if RECORD
    bool records = --until == 0;
    if (records) {
      until = record;
      phases += (long long)gridDim.y * rows * N;  // the next recorded time
    }
#endif
#pragma unroll
    for (int o = 0; o < OWNED; ++o) {
      const Sample& at = owned[o];
      if (!at.exists) continue;
      Oscillator& x = oscillators[o];
      gather_product(COMPONENTS - 1, o);  // here: above it would take more registers
      float b = of_time[FIELDS] * x.b, values[LOCAL_SLOTS];
#if DRIVE
      b += driven[o];
#endif
#pragma unroll
      for (int l = 0; l < LOCALS; ++l) values[l] = of_time[FIRST_LOCAL + l] * x.values[l];
#if TAPE
      float* slot = tape + (at.index * steps + k) * 3 * N + i;
      slot[0] = x.s;
      slot[N] = x.c;
      slot[2 * N] = diagonal_of(x.s, x.c, b, products[o], values);
#endif
      float delta = increment(x.s, x.c, b, products[o], values, scale);
#if NOISE
      unsigned step = noise_first + k;
      if (k == 0 || step % 4 == 0) {
        unsigned words[4];
        random_words(step / 4, i, x.sample, x.replicate, key0, key1, words);
        box_muller(words[0], words[1], eta[o]);
        box_muller(words[2], words[3], eta[o] + 2);
      }
#if NOISE_VARIES
      deviation = __ldg(deviations + k);
#endif
      delta += deviation * eta[o][step % 4];
      x.theta += delta;
      sincosf(x.theta, &x.s, &x.c);
      x.theta = atan2f(x.s, x.c);
#else
      x.theta += delta;
      rotate(x.theta, delta, k % 16 == 15, &x.s, &x.c);
#endif
      rows_now[i].of[position(t, o)] = Pair{x.s, x.c};
#if RECORD
      if (records) phases[at.index * N + i] = x.theta;
#endif
    }
  }
#if !RECORD
#pragma unroll
  for (int o = 0; o < OWNED; ++o) {
    const Sample& at = owned[o];
    if (at.exists) phases[at.index * N + i] = oscillators[o].theta;
  }
#endif
}
