/* A bundle's code written by hand, so that attn-bench is tested without the
   compiler. A block is a row. Slots: q, k, v, o, M, N. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum { D = 16 };

/* What lib/Bundle/Signature.h makes of the manifest. */
#define SIGNATURE                                                              \
  "pointer q: f32[B, H, M, D=16]\n"                                            \
  "pointer k: f32[B, H, N, D=16]\n"                                            \
  "pointer v: f32[B, H, N, D=16]\n"                                            \
  "pointer o: f32[B, H, M, D=16]\n"                                            \
  "length M\n"                                                                 \
  "length N\n"                                                                 \
  "grid M/1, H/1, B/1\n"
const char right_signature[] __asm__("demo_right.signature") = SIGNATURE;
const char wrong_signature[] __asm__("demo_wrong.signature") = SIGNATURE;

static void rows(const uint64_t *slots, int64_t first, int64_t last,
                 int64_t ahead) {
  const float *q = (const float *)slots[0], *k = (const float *)slots[1],
              *v = (const float *)slots[2];
  float *o = (float *)slots[3];
  int64_t M = (int64_t)slots[4], N = (int64_t)slots[5];
  float *p = malloc((size_t)(N + 1) * sizeof *p);
  for (int64_t row = first; row < last; ++row) {
    int64_t m = row % M, head = row / M;
    int64_t keys = m + 1 + ahead < N ? m + 1 + ahead : N;
    float most = -INFINITY, sum = 0;
    for (int64_t n = 0; n < keys; ++n) {
      p[n] = 0;
      for (int d = 0; d < D; ++d)
        p[n] += q[row * D + d] * k[(head * N + n) * D + d];
      p[n] *= 0.25f;
      most = p[n] > most ? p[n] : most;
    }
    for (int64_t n = 0; n < keys; ++n)
      sum += p[n] = expf(p[n] - most);
    for (int d = 0; d < D; ++d) {
      float value = 0;
      for (int64_t n = 0; n < keys; ++n)
        value += p[n] / sum * v[(head * N + n) * D + d];
      o[row * D + d] = value;
    }
  }
  free(p);
}

void demo_right(const uint64_t *slots, int64_t first, int64_t last) {
  rows(slots, first, last, 0);
}

/* The mask is one key too wide: a fault that the check must find. */
void demo_wrong(const uint64_t *slots, int64_t first, int64_t last) {
  rows(slots, first, last, 1);
}
