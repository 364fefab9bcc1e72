// The adjoint: tape, matrices and the loss's gradient by the final phases (R, rows, N), or by the
// recorded ones (K / record + 1, R, rows, N) with PATH_GRADIENT, of which `gradient` is the last ->
// by_fields (R, rows, N), and that by the matrices either as sums over each block's samples, outer
// (R, blocks, MATRICES, N, N) transposed (HOLD), or as the factors q_S and q_C of every step, outer
// (R, rows, K, COMPONENTS, 2, N), for a matrix product to finish. by_locals and by_start (R, rows,
// N) if the model has the term; by_factors (R, rows, COMPONENTS, 2, N) if a component has factors.
// scale = mu dt.
//
// With S and C, sine and cosine of the component's angle, U = M^T (q S) and V = M^T (q C),
//   odd = C U - S V,   even = C V + S U
// are summed up to the gradients by c and d, and the adjoint gains -m (c even - d odd).
//
// A schedule scales the products after they are taken. Its gradient is a sum over all oscillators:
// by_schedules (scheduled, R, rows, K, N) has the summands. by_drive (segments, R, rows, N). The model's fields and local terms (R, batch, N) are read for schedules only.
extern "C" __global__ void BOUNDS
adjoint(Matrices matrices, const float* tape, const float* factors, const float* gradient,
        float* by_fields, float* outer, int rows, int batch, int steps, int record, float scale,
        float time_step, LocalSums by_locals, float* by_start, float* by_factors,
        const float* fields, Locals locals, Schedules schedules, float* by_schedules,
        float* by_drive, int hold, int drive_first) {
#if HOLD
  __shared__ Row rows_now[SLOTS];
#endif
  __shared__ Row q_rows[SLOTS];
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
    hold_row(held[m], own[m], 1, N, t, i);
  }
#if HOLD
  float sums[MATRICES][COLUMNS];
#pragma unroll
  for (int m = 0; m < MATRICES; ++m)
#pragma unroll
    for (int j = 0; j < COLUMNS; ++j) sums[m][j] = 0.0f;
  clear(rows_now);
#endif
  clear(q_rows);
  __syncthreads();
  // One element per owned sample. Arrays, not a struct: a plain model compiles to plain variables.
  float lambda[OWNED], field_sum[OWNED], s[OWNED], c[OWNED], diagonal[OWNED], q[OWNED];
  const float* slot[OWNED];
  float next_s[OWNED], next_c[OWNED], next_diagonal[OWNED], change[OWNED], of_couplings[OWNED];
  float local_sum[OWNED][LOCAL_SLOTS], odd_sum[OWNED][COMPONENTS], even_sum[OWNED][COMPONENTS];
  Pair by[COMPONENTS];
#pragma unroll
  for (int p = 0; p < COMPONENTS; ++p) by[p] = factors_of(factors, run, p);
#if SCHEDULED
  float b[OWNED], values[OWNED][LOCAL_SLOTS], next_time[SCHEDULES];
#pragma unroll
  for (int f = 0; f < SCHEDULES; ++f) next_time[f] = factor_at(schedules, f, steps - 1);
#endif
#if DRIVE
  float drive_sum[OWNED];
  int segment = (drive_first + steps - 1) / hold, left = (drive_first + steps - 1) % hold + 1;
#endif
#if PATH_GRADIENT
  long long per_time = (long long)gridDim.y * rows * N;
  float added[OWNED];
  int until = record;
#endif
#pragma unroll
  for (int o = 0; o < OWNED; ++o) {
    const Sample& at = owned[o];
    lambda[o] = field_sum[o] = s[o] = c[o] = diagonal[o] = q[o] = 0.0f;
    slot[o] = tape + (at.index * steps + steps - 1) * 3 * N + i;
    next_s[o] = next_c[o] = next_diagonal[o] = 0.0f;
#pragma unroll
    for (int l = 0; l < LOCALS; ++l) local_sum[o][l] = 0.0f;
#pragma unroll
    for (int p = 0; p < COMPONENTS; ++p) odd_sum[o][p] = even_sum[o][p] = 0.0f;
    if (!at.exists) continue;
    lambda[o] = gradient[at.index * N + i];
    next_s[o] = slot[o][0];
    next_c[o] = slot[o][N];
    next_diagonal[o] = slot[o][2 * N];
#if SCHEDULED
    long long source = ((long long)run * batch + at.row % batch) * N + i;
    b[o] = fields[source];
#pragma unroll
    for (int l = 0; l < LOCALS; ++l) values[o][l] = locals.of[l][source];
#endif
#if DRIVE
    drive_sum[o] = 0.0f;
#endif
  }
  for (int k = steps - 1; k >= 0; --k) {
    float of_time[SCHEDULES];
#pragma unroll
    for (int f = 0; f < SCHEDULES; ++f) {
#if SCHEDULED
      of_time[f] = next_time[f];
      next_time[f] = factor_at(schedules, f, k > 0 ? k - 1 : 0);  // loaded one step ahead
#else
      of_time[f] = 1.0f;
#endif
    }
    auto add_summand = [&](int f, int o, float value) {  // to the gradient by what is scheduled
      if (!bit(SCHEDULED, f)) return;
      long long row = (long long)scheduled_before(f) * gridDim.y * rows + owned[o].index;
      by_schedules[(row * steps + k) * N + i] = value;
    };
    auto write_rows = [&](int p, int o) {  // of component p, in the same shared memory for all
      int n = position(t, o);
      Pair angle = multiple_angle(p, s[o], c[o]);
      Pair pull = Pair{q[o] * angle.s, q[o] * angle.c};
      q_rows[i].of[n] = pull;  // not rotated, from which odd and even follow
#if HOLD
      Pair row = rotated(p, by[p], angle);
      rows_now[i].of[n] = Pair{of_time[COUPLINGS] * row.s, of_time[COUPLINGS] * row.c};
#else
      Pair turned = rotated(p, Pair{by[p].s, -by[p].c}, pull);
      float* factor = outer + ((owned[o].index * steps + k) * COMPONENTS + p) * 2 * N + i;
      factor[0] = of_time[COUPLINGS] * turned.s;
      factor[N] = of_time[COUPLINGS] * turned.c;
#endif
    };
#if PATH_GRADIENT
    bool adds = --until == 0;
    if (adds) {
      until = record;
      gradient -= per_time;
    }
#endif
#pragma unroll
    for (int o = 0; o < OWNED; ++o) {
      const Sample& at = owned[o];
      if (!at.exists) continue;
      s[o] = next_s[o];
      c[o] = next_c[o];
      diagonal[o] = next_diagonal[o];
      q[o] = -scale * lambda[o];
      field_sum[o] += of_time[FIELDS] * (q[o] * s[o]);
#if SCHEDULED
      add_summand(FIELDS, o, q[o] * s[o] * b[o]);
#endif
#if DRIVE
      drive_sum[o] += q[o] * s[o];
#endif
#pragma unroll
      for (int l = 0; l < LOCALS; ++l) {
        float pull = local_pull(l, s[o], c[o], q[o], lambda[o]);
        local_sum[o][l] += of_time[FIRST_LOCAL + l] * pull;
#if SCHEDULED
        float unit = bit(VELOCITIES, l) ? time_step : 1.0f;
        add_summand(FIRST_LOCAL + l, o, unit * pull * values[o][l]);
#endif
      }
      write_rows(0, o);
      slot[o] -= 3 * N;
      if (k > 0) {  // loaded one step ahead
        next_s[o] = slot[o][0];
        next_c[o] = slot[o][N];
        next_diagonal[o] = slot[o][2 * N];
      }
#if PATH_GRADIENT
      added[o] = adds ? gradient[at.index * N + i] : 0.0f;
#endif
    }
#pragma unroll
    for (int p = 0; p < COMPONENTS; ++p) {
#pragma unroll
      for (int o = 0; o < OWNED; ++o)
        if (p > 0 && owned[o].exists) write_rows(p, o);
      __syncthreads();
      multiply(held[matrix_of(p)], own[matrix_of(p)], q_rows, partial, t, i);
#if HOLD
      add_outer(sums[matrix_of(p)], rows_now, q_rows, t, i);
#endif
      __syncthreads();
#pragma unroll
      for (int o = 0; o < OWNED; ++o) {
        if (!owned[o].exists) continue;
        int n = position(t, o);
        float u = gather(partial, n, 0, i), v = gather(partial, n, 1, i);
        Pair angle = multiple_angle(p, s[o], c[o]);
        Pulled sum = pulled(p, by[p], angle, u, v);
        odd_sum[o][p] += of_time[COUPLINGS] * sum.odd;
        even_sum[o][p] += of_time[COUPLINGS] * sum.even;
        of_couplings[o] = p == 0 ? sum.torque : of_couplings[o] + sum.torque;
        if (p + 1 == COMPONENTS) add_summand(COUPLINGS, o, of_couplings[o]);
        change[o] = (p == 0 ? q[o] * diagonal[o] : change[o]) - of_time[COUPLINGS] * sum.phase;
        if (p + 1 == COMPONENTS) lambda[o] += change[o];
#if PATH_GRADIENT
        if (p + 1 == COMPONENTS && adds) lambda[o] += added[o];
#endif
      }
    }
#if DRIVE
    if (--left == 0 || k == 0) {
#pragma unroll
      for (int o = 0; o < OWNED; ++o) {
        if (!owned[o].exists) continue;
        by_drive[((long long)segment * gridDim.y * rows + owned[o].index) * N + i] = drive_sum[o];
        drive_sum[o] = 0.0f;
      }
      --segment;
      left = hold;
    }
#endif
  }
#pragma unroll
  for (int o = 0; o < OWNED; ++o) {
    if (!owned[o].exists) continue;
    long long target = owned[o].index * N + i;
    by_fields[target] = field_sum[o];
#pragma unroll
    for (int l = 0; l < LOCALS; ++l)
      by_locals.of[l][target] = (bit(VELOCITIES, l) ? time_step : 1.0f) * local_sum[o][l];
#if START
    by_start[target] = lambda[o];
#endif
#if FACTORED
#pragma unroll
    for (int p = 0; p < COMPONENTS; ++p) {
      float* factor = by_factors + (owned[o].index * COMPONENTS + p) * 2 * N + i;
      factor[0] = odd_sum[o][p];
      factor[N] = even_sum[o][p];
    }
#endif
  }
#if HOLD
#pragma unroll
  for (int m = 0; m < MATRICES; ++m) {
    long long block = ((long long)run * gridDim.x + blockIdx.x) * MATRICES + m;
    store_outer(sums[m], outer + block * N * N, t, i);
  }
#endif
}
