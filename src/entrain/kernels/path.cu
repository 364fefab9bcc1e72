// L_path and its gradients along the teacher path of `coefficients` (R, rows, N), for the time
// nodes `times`, `weights` (T,), split over blockIdx.z. Losses and fields_gradient (Z, R, rows, N),
// outer (Z, R, blocks, N, N) transposed. gain = 2 mu dt / (B K N).
extern "C" __global__ void __launch_bounds__(THREADS)
path(const float* fields, const float* couplings, const float* coefficients, const float* times,
     const float* weights, float* losses, float* fields_gradient, float* outer, int rows, int nodes,
     float inverse_steps, float scale, float gain) {
  __shared__ Row rows_now[SLOTS], q_rows[SLOTS];
  PARTIAL_STORAGE Partial partial;
  int t = threadIdx.x / N, i = threadIdx.x % N, run = blockIdx.y;
  int row = blockIdx.x * S + t;
  bool owner = t < S && row < rows;
  long long place = (long long)run * rows + row;
  const float* own_couplings = couplings + (long long)run * N * N;
  float held[COLUMNS], sums[COLUMNS];
  hold_row(held, own_couplings, N, 1, t, i);
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
