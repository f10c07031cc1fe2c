package prometheus_test

import (
	"context"
	"fmt"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/hooks/prometheus"
	client "github.com/prometheus/client_golang/prometheus"
)

// A registry has the calls of two ranks. A program serves it with promhttp.HandlerFor.
func ExampleRegister() {
	registry := client.NewRegistry()
	h, err := prometheus.Register(registry)
	if err != nil {
		fmt.Println(err)
		return
	}
	work := func(ctx context.Context, c *fast.Comm) error {
		return fast.AllReduce(ctx, c, make([]float32, 1000), fast.Sum)
	}
	if err := fast.Run(context.Background(), 2, work, fast.WithHooks(h)); err != nil {
		fmt.Println(err)
	}
	families, err := registry.Gather()
	if err != nil {
		fmt.Println(err)
	}
	for _, f := range families {
		if f.GetName() != "collgen_calls_total" {
			continue
		}
		for _, m := range f.GetMetric() {
			fmt.Println(m.GetLabel()[1].GetValue(), m.GetCounter().GetValue())
		}
	}
	// Output:
	// failed 0
	// succeeded 2
}
