package kernel

func Copy(dst, src []byte) { copy(dst, src) }
