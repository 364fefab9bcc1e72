// Terms, schedules and noise of a step, for rollout.cu, adjoint.cu and steps.cu, which are compiled
// behind this file. cuda_program.py writes the functions `torque` and `slope` before it, from the
// formulas of physics/terms, and defines the macros:
//
// LOCALS local terms, of which bits of VELOCITIES act without the mobility and bits of SLOPES
// depend on the phase. COMPONENTS of the coupling function, with MATRICES different matrices:
// component q has the matrix with the q-th hexadecimal digit of MATRIX_OF, the multiple 2 if its
// bit of DOUBLED is set, else 1, and factors c and d if its bit of FACTORED is set. Bits of
// SCHEDULED: factors in time of the fields, of the couplings and of each local term.

constexpr int LOCAL_SLOTS = LOCALS > 0 ? LOCALS : 1;
constexpr int FIELDS = 0, COUPLINGS = 1, FIRST_LOCAL = 2, SCHEDULES = 2 + LOCALS;

struct __align__(8) Pair { float s, c; };
struct Matrices { const float* of[MATRICES]; };
struct Locals { const float* of[LOCAL_SLOTS]; };
struct LocalSums { float* of[LOCAL_SLOTS]; };
struct Schedules { const float* of[SCHEDULES]; };

__device__ __forceinline__ constexpr bool bit(unsigned bits, int index) {
  return bits >> index & 1u;
}

__device__ __forceinline__ constexpr int matrix_of(int q) { return MATRIX_OF >> (4 * q) & 15; }

__device__ __forceinline__ constexpr float multiple_of(int q) {
  return bit(DOUBLED, q) ? 2.0f : 1.0f;
}

// Sine and cosine of the angle's multiple in component q.
__device__ __forceinline__ Pair multiple_angle(int q, float s, float c) {
  return bit(DOUBLED, q) ? Pair{2.0f * s * c, c * c - s * s} : Pair{s, c};
}

// c and d of component q; 1 and 0 without factors.
__device__ __forceinline__ Pair factors_of(const float* factors, int run, int q) {
  if (!bit(FACTORED, q)) return Pair{1.0f, 0.0f};
  return Pair{factors[2 * (run * COMPONENTS + q)], factors[2 * (run * COMPONENTS + q) + 1]};
}

// M sin and M cos of component q, rotated by c and d.
__device__ __forceinline__ Pair rotated(int q, Pair by, Pair sums) {
  if (!bit(FACTORED, q)) return sums;
  return Pair{by.s * sums.s - by.c * sums.c, by.s * sums.c + by.c * sums.s};
}

// f(k) of what is scheduled, else 1, which a product does not compute.
__device__ __forceinline__ float factor_at(const Schedules& schedules, int which, int k) {
  return bit(SCHEDULED, which) ? __ldg(schedules.of[which] + k) : 1.0f;
}

// Position of f among what is scheduled.
__device__ __forceinline__ constexpr int scheduled_before(int f) {
  int count = 0;
  for (int g = 0; g < f; ++g) count += bit(SCHEDULED, g);
  return count;
}

// The products of all components with an oscillator: M sin and M cos of the first, rotated, and the
// torque and slope of the others.
struct Products {
  Pair first;
  float torque, slope;
};

__device__ __forceinline__ void add_product(Products& products, int q, Pair sums, float s,
                                            float c) {
  if (q == 0) {
    products = Products{sums, 0.0f, 0.0f};
    return;
  }
  Pair angle = multiple_angle(q, s, c);
  products.torque += angle.s * sums.c - angle.c * sums.s;
  products.slope += multiple_of(q) * (angle.c * sums.c + angle.s * sums.s);
}

// The increment of the phase in a step of length dt, with the field b: scale = mu dt, values v of
// local terms, those of velocities times dt. Torques are rounded apart: fused with the difference
// they would have other bits where a tape uses the same products.
__device__ __forceinline__ float increment(float s, float c, float b, const Products& products,
                                           const float* values, float scale) {
  float delta = -scale * (s * (b + products.first.c) - c * products.first.s);
#pragma unroll
  for (int l = 0; l < LOCALS; ++l)
    if (!bit(VELOCITIES, l)) delta = __fsub_rn(delta, torque(l, s, c, scale * values[l]));
  if (COMPONENTS > 1) delta -= scale * products.torque;
#pragma unroll
  for (int l = 0; l < LOCALS; ++l)
    if (bit(VELOCITIES, l)) delta -= torque(l, s, c, values[l]);
  return delta;
}

// The diagonal of the derivative of the bracket,
//   cos (b + (J cos)') + sin (J sin)' + slopes of local terms + m [ C (M C)' + S (M S)' ].
__device__ __forceinline__ float diagonal_of(float s, float c, float b, const Products& products,
                                             const float* values) {
  float diagonal = c * (b + products.first.c) + s * products.first.s;
#pragma unroll
  for (int l = 0; l < LOCALS; ++l)
    if (bit(SLOPES, l)) diagonal += slope(l, s, c, values[l]);
  if (COMPONENTS > 1) diagonal += products.slope;
  return diagonal;
}

// q d T / d v of a local term, which is linear in v; of a velocity it lacks dt.
__device__ __forceinline__ float local_pull(int l, float s, float c, float q, float lambda) {
  return bit(VELOCITIES, l) ? torque(l, s, c, -lambda) : torque(l, s, c, q);
}

// The products with M^T of component q, u = M^T (q S) and v = M^T (q C), as summands of the
// gradients by c and d and by the phase, and of q T, from which that by a schedule follows.
struct Pulled {
  float odd, even, phase, torque;
};

__device__ __forceinline__ Pulled pulled(int q, Pair by, Pair angle, float u, float v) {
  float odd = angle.c * u - angle.s * v, even = angle.c * v + angle.s * u;
  if (!bit(FACTORED, q)) return Pulled{odd, even, multiple_of(q) * even, odd};
  return Pulled{odd, even, multiple_of(q) * (by.s * even - by.c * odd), by.s * odd + by.c * even};
}

// The sum over the lanes of a warp, all of which must call.
__device__ __forceinline__ float warp_sum(float value) {
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) value += __shfl_xor_sync(0xffffffffu, value, mask);
  return value;
}

#if NOISE
// The four random words of Philox 4x32-10 for the increments of steps 4 block ..., as in
// physics/noise.py.
__device__ void random_words(unsigned block, unsigned oscillator, unsigned sample,
                             unsigned replicate, unsigned k0, unsigned k1, unsigned* words) {
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
  words[0] = c0;
  words[1] = c1;
  words[2] = c2;
  words[3] = c3;
}

// Two increments of two words, by Box and Muller.
__device__ void box_muller(unsigned radius_word, unsigned angle_word, float* eta) {
  double radius = sqrt(-2.0 * log((radius_word + 0.5) / 4294967296.0));
  double angle = 6.283185307179586 / 4294967296.0 * (angle_word + 0.5);
  double s, c;
  sincos(angle, &s, &c);
  eta[0] = (float)(radius * c);
  eta[1] = (float)(radius * s);
}
#endif
