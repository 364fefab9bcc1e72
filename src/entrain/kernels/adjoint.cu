// The adjoint: tape, couplings and the loss's gradient by the final phases (R, rows, N), or by all
// phases (K + 1, R, rows, N) with PATH_GRADIENT -> fields_gradient (R, rows, N), and that by the
// couplings either as sums over each block's samples, outer (R, blocks, N, N) transposed (HOLD),
// or as q sin(theta + a) and q cos(theta + a) of every step, outer (R, rows, K, 2, N), for a matrix
// product to finish. by_frequencies, by_injection, by_lag (a summand of every oscillator) and
// by_start (R, rows, N) if the model has the term. With LAG the tape lacks the local part of the
// diagonal, b cos + 4 s cos(2 theta): fields and injection (R, batch, N) supply it. scale = mu dt.
//
// With HARMONIC the tape is complete, and the products with J^T supply d loss / d a instead.
// With S and C, sine and cosine of 2 theta, U = J^T (q S) and V = J^T (q C),
//   odd = C U - S V,   even = C V + S U
// are summed up to the gradients by c and d, by_harmonic (R, rows, 2, N), and the adjoint gains
// -2 (c even - d odd). `outer` is (R, rows, K, 4, N) then, with q (c S + d C) and q (c C - d S).
extern "C" __global__ void BOUNDS
adjoint(const float* couplings, const float* tape, const float* gradient, float* fields_gradient,
        float* outer, int rows, int steps, float scale, int batch, float time_step,
        const float* fields, const float* injection, const float* lags, float* by_frequencies,
        float* by_injection, float* by_lag, float* by_start, const float* harmonics,
        float* by_harmonic) {
#if HOLD
  __shared__ Row rows_now[SLOTS];
#endif
  __shared__ Row q_rows[SLOTS];
  PARTIAL_STORAGE Partial partial;
  int t = threadIdx.x / N, i = threadIdx.x % N, run = blockIdx.y;
  Sample owned[OWNED];
#pragma unroll
  for (int o = 0; o < OWNED; ++o) owned[o] = owned_sample(t, o, run, rows);
  const float* own_couplings = couplings + (long long)run * N * N;
  float held[COLUMNS];
  hold_row(held, own_couplings, 1, N, t, i);
#if HOLD
  float sums[COLUMNS];
#pragma unroll
  for (int m = 0; m < COLUMNS; ++m) sums[m] = 0.0f;
  clear(rows_now);
#endif
  clear(q_rows);
  __syncthreads();
  // One element per owned sample. Arrays, not a struct: a plain model compiles to plain variables.
  float lambda[OWNED], field_sum[OWNED], s[OWNED], c[OWNED], diagonal[OWNED], q[OWNED];
  const float* slot[OWNED];
  float next_s[OWNED], next_c[OWNED], next_diagonal[OWNED];
#if FREQUENCY
  float lambda_sum[OWNED];
#endif
#if INJECTION
  float injection_sum[OWNED];
#endif
#if LAG
  float lag_sum[OWNED], b[OWNED], strength[OWNED], sin_a, cos_a;
  sincosf(lags[run], &sin_a, &cos_a);
#endif
#if HARMONIC
  float odd_sum[OWNED], even_sum[OWNED], through[OWNED];
  float by_odd = harmonics[2 * run], by_even = harmonics[2 * run + 1];
  constexpr int PRODUCTS = 4;
#else
  constexpr int PRODUCTS = 2;
#endif
#if PATH_GRADIENT
  long long per_time = (long long)gridDim.y * rows * N;
  float added[OWNED];
#endif
#pragma unroll
  for (int o = 0; o < OWNED; ++o) {
    const Sample& at = owned[o];
    lambda[o] = field_sum[o] = s[o] = c[o] = diagonal[o] = q[o] = 0.0f;
    slot[o] = tape + (at.index * steps + steps - 1) * 3 * N + i;
    next_s[o] = next_c[o] = next_diagonal[o] = 0.0f;
    if (!at.exists) continue;
#if PATH_GRADIENT
    lambda[o] = gradient[steps * per_time + at.index * N + i];
#else
    lambda[o] = gradient[at.index * N + i];
#endif
    next_s[o] = slot[o][0];
    next_c[o] = slot[o][N];
    next_diagonal[o] = slot[o][2 * N];
#if FREQUENCY
    lambda_sum[o] = 0.0f;
#endif
#if INJECTION
    injection_sum[o] = 0.0f;
#endif
#if HARMONIC
    odd_sum[o] = even_sum[o] = 0.0f;
#endif
#if LAG && HARMONIC
    lag_sum[o] = 0.0f;
#elif LAG
    long long source = ((long long)run * batch + at.row % batch) * N + i;
    lag_sum[o] = strength[o] = 0.0f;
    b[o] = fields[source];
#if INJECTION
    strength[o] = injection[source];
#endif
#endif
  }
  for (int k = steps - 1; k >= 0; --k) {
#pragma unroll
    for (int o = 0; o < OWNED; ++o) {
      const Sample& at = owned[o];
      if (!at.exists) continue;
      s[o] = next_s[o];
      c[o] = next_c[o];
      diagonal[o] = next_diagonal[o];
      q[o] = -scale * lambda[o];
      field_sum[o] += q[o] * s[o];
      float q_s = q[o] * s[o], q_c = q[o] * c[o];
#if FREQUENCY
      lambda_sum[o] += lambda[o];
#endif
#if INJECTION
      injection_sum[o] += 4.0f * q_s * c[o];
#endif
#if LAG
#if !HARMONIC
      lag_sum[o] += q[o] * diagonal[o];
      diagonal[o] += c[o] * b[o] + 4.0f * strength[o] * (c[o] * c[o] - s[o] * s[o]);
#endif
      float rotated_s = cos_a * q_s + sin_a * q_c;
      q_c = cos_a * q_c - sin_a * q_s;
      q_s = rotated_s;
#endif
#if HOLD
      rows_now[i].of[at.n] = Pair{s[o], c[o]};
#endif
      q_rows[i].of[at.n] = Pair{q_s, q_c};
      slot[o] -= 3 * N;
      if (k > 0) {  // loaded one step ahead
        next_s[o] = slot[o][0];
        next_c[o] = slot[o][N];
        next_diagonal[o] = slot[o][2 * N];
      }
#if PATH_GRADIENT
      added[o] = gradient[k * per_time + at.index * N + i];
#endif
#if !HOLD
      float* products = outer + (at.index * steps + k) * PRODUCTS * N + i;
      products[0] = q_s;
      products[N] = q_c;
#if HARMONIC
      Pair twice = double_angle(s[o], c[o]);
      products[2 * N] = q[o] * (by_odd * twice.s + by_even * twice.c);
      products[3 * N] = q[o] * (by_odd * twice.c - by_even * twice.s);
#endif
#endif
    }
    __syncthreads();
    multiply(held, own_couplings, q_rows, partial, t, i);
#if HOLD
    add_outer(sums, rows_now, q_rows, t, i);
#endif
    __syncthreads();
#if HARMONIC  // the same shared memory again, for twice the angles
#pragma unroll
    for (int o = 0; o < OWNED; ++o) {
      through[o] = 0.0f;
      if (!owned[o].exists) continue;
      int n = owned[o].n;
      through[o] = s[o] * gather(partial, n, 0, i) + c[o] * gather(partial, n, 1, i);
#if LAG
      lag_sum[o] += through[o];
#endif
      Pair twice = double_angle(s[o], c[o]);
#if HOLD  // rotated here, not in q_rows: odd and even need products that are not rotated
      rows_now[i].of[n] = Pair{by_odd * twice.s - by_even * twice.c,
                               by_odd * twice.c + by_even * twice.s};
#endif
      q_rows[i].of[n] = Pair{q[o] * twice.s, q[o] * twice.c};
    }
    __syncthreads();
    multiply(held, own_couplings, q_rows, partial, t, i);
#if HOLD
    add_outer(sums, rows_now, q_rows, t, i);
#endif
    __syncthreads();
#endif
#pragma unroll
    for (int o = 0; o < OWNED; ++o) {
      if (!owned[o].exists) continue;
      int n = owned[o].n;
#if HARMONIC
      Pair twice = double_angle(s[o], c[o]);
      float u = gather(partial, n, 0, i), v = gather(partial, n, 1, i);
      float odd = twice.c * u - twice.s * v, even = twice.c * v + twice.s * u;
      odd_sum[o] += odd;
      even_sum[o] += even;
      lambda[o] += q[o] * diagonal[o] - through[o] - 2.0f * (by_odd * even - by_even * odd);
#else
      lambda[o] += q[o] * diagonal[o] - s[o] * gather(partial, n, 0, i)
                   - c[o] * gather(partial, n, 1, i);
#endif
#if PATH_GRADIENT
      lambda[o] += added[o];
#endif
    }
  }
#pragma unroll
  for (int o = 0; o < OWNED; ++o) {
    if (!owned[o].exists) continue;
    long long target = owned[o].index * N + i;
    fields_gradient[target] = field_sum[o];
#if FREQUENCY
    by_frequencies[target] = time_step * lambda_sum[o];
#endif
#if INJECTION
    by_injection[target] = injection_sum[o];
#endif
#if LAG
    by_lag[target] = lag_sum[o];
#endif
#if START
    by_start[target] = lambda[o];
#endif
#if HARMONIC
    by_harmonic[owned[o].index * 2 * N + i] = odd_sum[o];
    by_harmonic[owned[o].index * 2 * N + N + i] = even_sum[o];
#endif
  }
#if HOLD
  store_outer(sums, outer + ((long long)run * gridDim.x + blockIdx.x) * N * N, t, i);
#endif
}
