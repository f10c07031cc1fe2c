package gen_test

import (
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
)

// BenchmarkInstantiate makes the schedules of one size for all roots.
func BenchmarkInstantiate(b *testing.B) {
	for _, a := range catalogue.Algorithms() {
		b.Run(a.FullName(), func(b *testing.B) {
			for b.Loop() {
				for _, p := range a.Calls(32, 1, 4) {
					if _, err := gen.Instantiate(&a, p); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
