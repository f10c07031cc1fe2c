//go:build !race

#include "textflag.h"

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

// func fetchTwo(p unsafe.Pointer)
TEXT ·fetchTwo(SB), NOSPLIT, $0-8
	MOVQ p+0(FP), AX
	PREFETCHT0 (AX)
	PREFETCHT0 64(AX)
	RET

// func fetchOwned(p unsafe.Pointer)
TEXT ·fetchOwned(SB), NOSPLIT, $0-8
	MOVQ p+0(FP), AX
	BYTE $0x0f; BYTE $0x0d; BYTE $0x08 // PREFETCHW (AX)
	RET
