package exchangetest

import "time"

// Hurry makes tests that wait in vain fail soon.
func Hurry() { long = 700 * time.Millisecond }
