//go:build !race

#include "textflag.h"

// func store(p *atomic.Uint64, v uint64)
TEXT ·store(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), AX
	MOVQ v+8(FP), BX
	MOVQ BX, (AX)
	RET

// func store32(p *atomic.Uint32, v uint32)
TEXT ·store32(SB), NOSPLIT, $0-12
	MOVQ p+0(FP), AX
	MOVL v+8(FP), BX
	MOVL BX, (AX)
	RET

// func await(p *atomic.Uint32, v uint32, looks int) bool
TEXT ·await(SB), NOSPLIT, $0-25
	MOVQ p+0(FP), AX
	MOVL v+8(FP), BX
	MOVQ looks+16(FP), CX

look:
	CMPL (AX), BX
	JEQ  found
	PAUSE
	DECQ CX
	JGT  look
	MOVB $0, ret+24(FP)
	RET

found:
	MOVB $1, ret+24(FP)
	RET

// func fetch(p unsafe.Pointer)
TEXT ·fetch(SB), NOSPLIT, $0-8
	MOVQ p+0(FP), AX
	PREFETCHT0 (AX)
	RET
