package gen

import "testing"

func TestCatalogueInstantiates(t *testing.T) {
	for _, a := range Catalogue() {
		t.Run(a.FullName(), func(t *testing.T) {
			for size := 1; size <= 64; size++ {
				for _, p := range a.Calls(size, 1, 2, 5) {
					if _, err := Instantiate(&a, p); err != nil {
						t.Fatalf("%+v: %v", p, err)
					}
				}
			}
		})
	}
}
