// What a C compiler makes of the kernels, for comparison: plain loops, of which the compiler is told that nothing overlaps
// in part. It reads lines "kernel type offset bytes calls" and answers each with the nanoseconds of a call, on
// so many bytes of its memory from the offset on.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define LOOP(name, type, expr)                                                            \
	__attribute__((noinline)) static void name(void *dst, const void *va, const void *vb, size_t bytes) \
	{                                                                                     \
		const type *a = va, *b = vb;                                                      \
		type *d = dst;                                                                    \
		size_t n = bytes / sizeof(type);                                                  \
		_Pragma("GCC ivdep") for (size_t i = 0; i < n; i++)                               \
		{                                                                                 \
			type x = a[i], y = b[i];                                                      \
			d[i] = expr;                                                                  \
		}                                                                                 \
	}

// The float rules of package spec, so that the compiler can do without branches: a NaN wins, and -0 < +0.
static inline uint32_t to32(float f) { uint32_t u; memcpy(&u, &f, 4); return u; }
static inline float from32(uint32_t u) { float f; memcpy(&f, &u, 4); return f; }
static inline uint64_t to64(double f) { uint64_t u; memcpy(&u, &f, 8); return u; }
static inline double from64(uint64_t u) { double f; memcpy(&f, &u, 8); return f; }

#define CHOICE(name, type, bits, compare, join)                                \
	static inline type name(type x, type y)                                    \
	{                                                                          \
		type r = x compare y ? x : y;                                          \
		r = x != x ? x : r;                                                    \
		return x == y ? from##bits(to##bits(x) join to##bits(y)) : r;          \
	}
CHOICE(min32, float, 32, <, |) CHOICE(max32, float, 32, >, &)
CHOICE(min64, double, 64, <, |) CHOICE(max64, double, 64, >, &)

static inline float wide(uint16_t b) { return from32((uint32_t)b << 16); }
static inline uint16_t narrow(float f)
{
	uint32_t u = to32(f);
	return (u + 0x7fff + (u >> 16 & 1)) >> 16; // a NaN from BFloat16 operands is not carried over
}

#define ARITHMETIC(t, type) LOOP(sum_##t, type, x + y) LOOP(prod_##t, type, x * y)
#define INTEGER(t, type)                                                      \
	ARITHMETIC(t, type) LOOP(min_##t, type, x < y ? x : y)                    \
	LOOP(max_##t, type, x > y ? x : y) LOOP(band_##t, type, x & y)            \
	LOOP(bor_##t, type, x | y) LOOP(bxor_##t, type, x ^ y)                    \
	LOOP(land_##t, type, x && y) LOOP(lor_##t, type, x || y)
#define REAL(t, type, bits) ARITHMETIC(t, type) LOOP(min_##t, type, min##bits(x, y)) LOOP(max_##t, type, max##bits(x, y))

INTEGER(int8, int8_t) INTEGER(int16, int16_t) INTEGER(int32, int32_t) INTEGER(int64, int64_t)
INTEGER(uint8, uint8_t) INTEGER(uint16, uint16_t) INTEGER(uint32, uint32_t) INTEGER(uint64, uint64_t)
REAL(float32, float, 32) REAL(float64, double, 64)

LOOP(sum_float16, _Float16, (_Float16)((float)x + (float)y))
LOOP(prod_float16, _Float16, (_Float16)((float)x * (float)y))
// There is no smaller and larger float16: gcc 12 converts one by one, in seconds where the others take milliseconds.
LOOP(sum_bfloat16, uint16_t, narrow(wide(x) + wide(y)))
LOOP(prod_bfloat16, uint16_t, narrow(wide(x) * wide(y)))
LOOP(min_bfloat16, uint16_t, narrow(min32(wide(x), wide(y))))
LOOP(max_bfloat16, uint16_t, narrow(max32(wide(x), wide(y))))

typedef struct { float re, im; } complex64;
typedef struct { double re, im; } complex128;
#define COMPLEX(t) \
	LOOP(sum_##t, t, ((t){x.re + y.re, x.im + y.im})) \
	LOOP(prod_##t, t, ((t){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re}))
COMPLEX(complex64) COMPLEX(complex128)

static uint64_t size; // from the command line: the compiler is not to know it
#define DIVIDE(t, type, expr) LOOP(divide_##t, type, expr)
DIVIDE(int8, int8_t, ((void)y, x / (int64_t)size)) DIVIDE(int16, int16_t, ((void)y, x / (int64_t)size))
DIVIDE(int32, int32_t, ((void)y, x / (int64_t)size)) DIVIDE(int64, int64_t, ((void)y, x / (int64_t)size))
DIVIDE(uint8, uint8_t, ((void)y, x / size)) DIVIDE(uint16, uint16_t, ((void)y, x / size))
DIVIDE(uint32, uint32_t, ((void)y, x / size)) DIVIDE(uint64, uint64_t, ((void)y, x / size))
DIVIDE(float32, float, ((void)y, x / (float)size)) DIVIDE(float64, double, ((void)y, x / (double)size))
DIVIDE(float16, _Float16, ((void)y, (_Float16)((float)x / (float)size)))
DIVIDE(bfloat16, uint16_t, ((void)y, narrow(wide(x) / (float)size)))

static void copy_uint8(void *dst, const void *a, const void *b, size_t bytes) { (void)a; memmove(dst, b, bytes); }

#define ROW(op, t) {#op, #t, op##_##t},
#define ROWS2(t) ROW(sum, t) ROW(prod, t)
#define ROWS3(t) ROWS2(t) ROW(divide, t)
#define ROWS5(t) ROWS3(t) ROW(min, t) ROW(max, t)
#define ROWS10(t) ROWS5(t) ROW(band, t) ROW(bor, t) ROW(bxor, t) ROW(land, t) ROW(lor, t)
static const struct { const char *op, *type; void (*f)(void *, const void *, const void *, size_t); } kernels[] = {
	ROWS10(int8) ROWS10(int16) ROWS10(int32) ROWS10(int64) ROWS10(uint8) ROWS10(uint16) ROWS10(uint32) ROWS10(uint64)
	ROWS3(float16) ROWS5(bfloat16) ROWS5(float32) ROWS5(float64) ROWS2(complex64) ROWS2(complex128) ROW(copy, uint8)
};

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

// memory is as the Go side has it: from a multiple of 2 MiB on, in huge pages if the system has some, with small numbers.
static unsigned char *memory(size_t bytes, int value)
{
	size_t huge = 2 << 20;
	unsigned char *m = mmap(NULL, bytes + huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (m == MAP_FAILED)
		exit(1);
	m += -(uintptr_t)m % huge;
	madvise(m, bytes, MADV_HUGEPAGE);
	memset(m, value, bytes);
	return m;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	size_t most = strtoull(argv[1], NULL, 10), offset, bytes, calls;
	size = strtoull(argv[2], NULL, 10);
	unsigned char *a = memory(most, 1), *b = memory(most, 1);
	char op[32], type[32];
	while (scanf("%31s %31s %zu %zu %zu", op, type, &offset, &bytes, &calls) == 5 && offset <= most && bytes <= most - offset) {
		double ns = -1;
		for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
			if (strcmp(kernels[k].op, op) || strcmp(kernels[k].type, type))
				continue;
			kernels[k].f(a + offset, a + offset, b + offset, bytes);
			double begin = now();
			for (size_t i = 0; i < calls; i++)
				kernels[k].f(a + offset, a + offset, b + offset, bytes);
			ns = (now() - begin) / calls;
		}
		printf("%f\n", ns);
		fflush(stdout);
	}
	return 0;
}
