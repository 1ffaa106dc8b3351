// Runs @layers of layers.mlir often enough to be sampled.
#include <stdio.h>

void layers(float *x, float *a, float *b, float *hidden, float *out);

static float x[128 * 256], a[256 * 256], b[256 * 16], hidden[128 * 256],
    out[128 * 16];

int main(void) {
  for (int i = 0; i < 256 * 256; ++i)
    a[i] = (float)(i % 7) / 256;
  for (int i = 0; i < 256 * 16; ++i)
    b[i] = (float)(i % 5) / 256;
  for (int i = 0; i < 128 * 256; ++i)
    x[i] = (float)(i % 3);
  for (int run = 0; run < 50; ++run)
    layers(x, a, b, hidden, out);
  printf("%f\n", out[0]);
  return 0;
}
