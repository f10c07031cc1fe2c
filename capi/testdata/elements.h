/* Elements of every type, as the tests write and compare them. */
#ifndef ELEMENTS_H
#define ELEMENTS_H

#include <stdint.h>
#include <string.h>

#include "collgen.h"

static const int types[] = {COLLGEN_INT8, COLLGEN_INT16, COLLGEN_INT32, COLLGEN_INT64, COLLGEN_UINT8, COLLGEN_UINT16,
	COLLGEN_UINT32, COLLGEN_UINT64, COLLGEN_FLOAT16, COLLGEN_BFLOAT16, COLLGEN_FLOAT32, COLLGEN_FLOAT64,
	COLLGEN_COMPLEX64, COLLGEN_COMPLEX128, COLLGEN_BOOL, COLLGEN_FLOAT8E4M3, COLLGEN_FLOAT8E5M2};
enum { TYPES = sizeof types / sizeof *types };

static inline int bytes_of(int type) {
	switch (type) {
	case COLLGEN_INT8: case COLLGEN_UINT8: case COLLGEN_BOOL: case COLLGEN_FLOAT8E4M3: case COLLGEN_FLOAT8E5M2:
		return 1;
	case COLLGEN_INT16: case COLLGEN_UINT16: case COLLGEN_FLOAT16: case COLLGEN_BFLOAT16:
		return 2;
	case COLLGEN_INT32: case COLLGEN_UINT32: case COLLGEN_FLOAT32:
		return 4;
	case COLLGEN_COMPLEX128:
		return 16;
	}
	return 8;
}

/* small returns the float with that many bits of a fraction and that bias which is v, 0 to 16. */
static inline unsigned small(int v, int fraction, int bias) {
	int e = 0;
	if (v == 0)
		return 0;
	while (v >> (e + 1))
		e++;
	return (unsigned)(e + bias) << fraction | (unsigned)(v - (1 << e)) << fraction >> e;
}

/* put writes v, a small number, as element i; of a bool, whether it is odd. */
static inline void put(int type, void *at, int i, int v) {
	char *to = (char *)at + (size_t)i * bytes_of(type);
	uint8_t u8 = v;
	uint16_t u16 = v;
	uint32_t u32 = v;
	uint64_t u64 = v;
	float f[2] = {v, v + 1};
	double d[2] = {v, v + 1};
	switch (type) {
	case COLLGEN_BOOL: u8 = v & 1; memcpy(to, &u8, 1); break;
	case COLLGEN_FLOAT8E4M3: u8 = small(v, 3, 7); memcpy(to, &u8, 1); break;
	case COLLGEN_FLOAT8E5M2: u8 = small(v, 2, 15); memcpy(to, &u8, 1); break;
	case COLLGEN_FLOAT16: u16 = small(v, 10, 15); memcpy(to, &u16, 2); break;
	case COLLGEN_BFLOAT16: u16 = small(v, 7, 127); memcpy(to, &u16, 2); break;
	case COLLGEN_FLOAT32: memcpy(to, f, 4); break;
	case COLLGEN_FLOAT64: memcpy(to, d, 8); break;
	case COLLGEN_COMPLEX64: memcpy(to, f, 8); break;
	case COLLGEN_COMPLEX128: memcpy(to, d, 16); break;
	default:
		switch (bytes_of(type)) {
		case 1: memcpy(to, &u8, 1); break;
		case 2: memcpy(to, &u16, 2); break;
		case 4: memcpy(to, &u32, 4); break;
		default: memcpy(to, &u64, 8);
		}
	}
}

/* sum is the op under which the elements v of n ranks are put(v1 + v2 + …), where put adds n to the second part of a
 * complex number. */
static inline int sum(int type) { return type == COLLGEN_BOOL ? COLLGEN_LOR : COLLGEN_SUM; }

/* put_sum writes the reduction by sum of n values. */
static inline void put_sum(int type, void *at, int i, const int *v, int n) {
	int total = 0, odd = 0;
	for (int q = 0; q < n; q++) {
		total += v[q];
		odd |= v[q] & 1;
	}
	put(type, at, i, type == COLLGEN_BOOL ? odd : total);
	if (type == COLLGEN_COMPLEX64) {
		float f = total + n;
		memcpy((char *)at + (size_t)i * 8 + 4, &f, 4);
	}
	if (type == COLLGEN_COMPLEX128) {
		double d = total + n;
		memcpy((char *)at + (size_t)i * 16 + 8, &d, 8);
	}
}

#endif
