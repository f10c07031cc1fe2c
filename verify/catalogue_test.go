package verify_test

import (
	"context"
	"testing"
	"time"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/verify"
)

func TestCatalogue(t *testing.T) {
	to := verify.MaxSize
	if testing.Short() {
		to = 12
	}
	for _, a := range gen.Catalogue() {
		t.Run(a.FullName(), func(t *testing.T) {
			start := time.Now()
			s, err := verify.Algorithm(context.Background(), &a, verify.Options{To: to})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%v %+v", time.Since(start), s)
		})
	}
}
