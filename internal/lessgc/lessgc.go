// Package lessgc has programs that import it collect garbage when the heap has grown to five times of what is live, not
// to twice. It is for those that keep little, make much garbage, and end soon: proofs, and tests that prove. The
// variable GOGC overrides it.
package lessgc

import (
	"os"
	"runtime/debug"
)

func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}
