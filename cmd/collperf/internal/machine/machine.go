// Package machine has what collperf needs of the system: memory on huge pages, cores to run on, the usage of memory and
// files.
package machine

import (
	"fmt"
	"runtime"

	"github.com/collgen/collgen/internal/figures"
)

// Describe returns the machine in words: cores, system, and the processor if it is known.
func Describe() string {
	model := figures.Processor()
	if model != "" {
		model = ", " + model
	}
	return fmt.Sprintf("%d cores, %s/%s%s", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, model)
}
