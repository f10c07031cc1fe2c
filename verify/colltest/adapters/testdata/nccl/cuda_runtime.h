// What nccl.c needs of CUDA, on the memory of the host: see stub.c.
#pragma once
#include <stdlib.h>
#include <string.h>

typedef int cudaError_t, cudaStream_t;
enum { cudaSuccess, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };

static inline cudaError_t cudaGetDeviceCount(int *n) { return *n = 1, cudaSuccess; }
static inline cudaError_t cudaSetDevice(int device) { return device; }
static inline cudaError_t cudaStreamCreate(cudaStream_t *s) { return *s = 0, cudaSuccess; }
static inline cudaError_t cudaStreamSynchronize(cudaStream_t s) { return s; }
static inline cudaError_t cudaMalloc(void **at, size_t n) { return posix_memalign(at, 256, n); }
static inline cudaError_t cudaFree(void *at) { return free(at), cudaSuccess; }
static inline const char *cudaGetErrorString(cudaError_t e) { return e ? "an error" : "none"; }

static inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n, int direction, cudaStream_t s) {
	return memcpy(to, from, n), direction > cudaMemcpyDeviceToHost ? 1 : s;
}
