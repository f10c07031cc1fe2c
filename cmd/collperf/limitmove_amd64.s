#include "textflag.h"

// func move(into, from []byte)
TEXT ·move(SB), NOSPLIT, $0-48
	MOVQ into_base+0(FP), DI
	MOVQ from_base+24(FP), SI
	MOVQ from_len+32(FP), CX
	REP; MOVSB
	RET

// func pause()
TEXT ·pause(SB), NOSPLIT, $0-0
	PAUSE
	RET
