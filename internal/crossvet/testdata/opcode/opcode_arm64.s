#include "textflag.h"

TEXT ·f(SB), NOSPLIT, $0-0
	MRSX CNTVCT_EL0, R0
	RET
