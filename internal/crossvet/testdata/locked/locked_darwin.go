package locked

import "sync"

func f(mu sync.Mutex) { mu.Lock() }
