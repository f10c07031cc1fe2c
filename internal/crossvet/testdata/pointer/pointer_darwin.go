package pointer

import "unsafe"

func f(x uintptr) unsafe.Pointer { return unsafe.Pointer(x) }
