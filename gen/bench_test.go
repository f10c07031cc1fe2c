package gen

import "testing"

// BenchmarkInstantiate makes the schedules of one size for all roots.
func BenchmarkInstantiate(b *testing.B) {
	for _, a := range Catalogue() {
		b.Run(a.FullName(), func(b *testing.B) {
			for b.Loop() {
				for _, p := range a.Calls(32, 1, 4) {
					if _, err := Instantiate(&a, p); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
