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

// The state of an oscillator, in registers of its thread.
struct Oscillator {
  float theta, s, c, b;
#if FREQUENCY
  float advance;  // dt w
#endif
#if INJECTION
  float injection;
#endif
#if NOISE
  unsigned sample, replicate;
#endif
};

// fields, frequencies, injection and start (R, batch, N), lags (R,), harmonics c and d (R, 2),
// couplings (R, N, N), transposed unless HOLD -> phases (R, rows, N), or (K + 1, R, rows, N) with
// RECORD; with TAPE also (R, rows, K, 3, N): sine, cosine and the diagonal of the step's derivative
// before each step,
//   cos (b + (J cos)_a) + sin (J sin)_a + 4 s cos(2 theta),
// with LAG only its coupling part, cos (J cos)_a + sin (J sin)_a, from which d loss / d a follows.
// With HARMONIC the diagonal is complete and includes D of the second harmonic: for S and C, sine
// and cosine of 2 theta, and J S and J C rotated by (c, d) like J sin and J cos by (cos a, sin a),
// its torque and derivative are
//   T = S (J C)_h - C (J S)_h,   D = 2 (C (J C)_h + S (J S)_h).
// rows = replicates x batch with NOISE, else batch. scale = mu dt.
extern "C" __global__ void __launch_bounds__(THREADS)
rollout(const float* fields, const float* couplings, float* phases, float* tape, int rows,
        int batch, int steps, float scale, float noise_scale, unsigned key0, unsigned key1,
        const long long* replicates, const long long* samples, const float* frequencies,
        const float* injection, const float* lags, const float* start, float time_step,
        const float* harmonics) {
  __shared__ Row rows_now[SLOTS];
  PARTIAL_STORAGE Partial partial;
  int t = threadIdx.x / N, i = threadIdx.x % N, run = blockIdx.y;
  Sample owned[OWNED];
#pragma unroll
  for (int o = 0; o < OWNED; ++o) owned[o] = owned_sample(t, o, run, rows);
  const float* own_couplings = couplings + (long long)run * N * N;
  float held[COLUMNS];
  hold_row(held, own_couplings, N, 1, t, i);
  clear(rows_now);
  __syncthreads();
  Oscillator oscillators[OWNED];
#if NOISE
  float eta[OWNED][4];
#endif
#if LAG
  float sin_a, cos_a;
  sincosf(lags[run], &sin_a, &cos_a);
#endif
#if HARMONIC
  float odd = harmonics[2 * run], even = harmonics[2 * run + 1];
  float first_sin[OWNED], first_cos[OWNED];
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
#if FREQUENCY
    x.advance = time_step * frequencies[source];
#endif
#if INJECTION
    x.injection = injection[source];
#endif
    rows_now[i].of[at.n] = Pair{x.s, x.c};
#if NOISE
    x.sample = (unsigned)samples[at.row % batch];
    x.replicate = (unsigned)replicates[at.row / batch];
#endif
#if RECORD
    phases[at.index * N + i] = x.theta;
#endif
  }
  for (int k = 0; k < steps; ++k) {
    __syncthreads();
    multiply(held, own_couplings, rows_now, partial, t, i);
    __syncthreads();
#if HARMONIC  // the same shared memory again, for twice the angles
#pragma unroll
    for (int o = 0; o < OWNED; ++o) {
      const Sample& at = owned[o];
      first_sin[o] = first_cos[o] = 0.0f;
      if (!at.exists) continue;
      first_sin[o] = gather(partial, at.n, 0, i);
      first_cos[o] = gather(partial, at.n, 1, i);
      rows_now[i].of[at.n] = double_angle(oscillators[o].s, oscillators[o].c);
    }
    __syncthreads();
    multiply(held, own_couplings, rows_now, partial, t, i);
    __syncthreads();
#endif
#pragma unroll
    for (int o = 0; o < OWNED; ++o) {
      const Sample& at = owned[o];
      if (!at.exists) continue;
      Oscillator& x = oscillators[o];
      float j_sin = gather(partial, at.n, 0, i), j_cos = gather(partial, at.n, 1, i);
#if HARMONIC
      Pair twice = double_angle(x.s, x.c);
      float second_sin = odd * j_sin - even * j_cos, second_cos = odd * j_cos + even * j_sin;
      float second_torque = twice.s * second_cos - twice.c * second_sin;
      j_sin = first_sin[o];
      j_cos = first_cos[o];
#endif
#if LAG
      float rotated_sin = cos_a * j_sin - sin_a * j_cos;
      j_cos = cos_a * j_cos + sin_a * j_sin;
      j_sin = rotated_sin;
#endif
#if TAPE
      float* slot = tape + (at.index * steps + k) * 3 * N + i;
      slot[0] = x.s;
      slot[N] = x.c;
#if LAG && !HARMONIC
      slot[2 * N] = x.c * j_cos + x.s * j_sin;
#elif INJECTION
      slot[2 * N] = x.c * (x.b + j_cos) + x.s * j_sin
                    + 4.0f * x.injection * (x.c * x.c - x.s * x.s);
#else
      slot[2 * N] = x.c * (x.b + j_cos) + x.s * j_sin;
#endif
#if HARMONIC
      slot[2 * N] += 2.0f * (twice.c * second_cos + twice.s * second_sin);
#endif
#endif
      float delta = -scale * (x.s * (x.b + j_cos) - x.c * j_sin);
#if INJECTION
      delta -= 4.0f * scale * x.injection * x.s * x.c;
#endif
#if HARMONIC
      delta -= scale * second_torque;
#endif
#if FREQUENCY
      delta += x.advance;
#endif
#if NOISE
      if (k % 4 == 0) increments(k / 4, i, x.sample, x.replicate, key0, key1, eta[o]);
      delta += noise_scale * eta[o][k % 4];
      x.theta += delta;
      sincosf(x.theta, &x.s, &x.c);
      x.theta = atan2f(x.s, x.c);
#else
      x.theta += delta;
      rotate(x.theta, delta, k % 16 == 15, &x.s, &x.c);
#endif
      rows_now[i].of[at.n] = Pair{x.s, x.c};
#if RECORD
      phases[((long long)(k + 1) * gridDim.y * rows + at.index) * N + i] = x.theta;
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
