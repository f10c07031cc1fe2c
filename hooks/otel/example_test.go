package otel_test

import (
	"context"
	"fmt"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/hooks/otel"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// Each rank's call is a span. A program has exporters of its own in place of those that keep everything in memory.
func ExampleNew() {
	spans := tracetest.NewInMemoryExporter()
	meters := metric.NewMeterProvider(metric.WithReader(metric.NewManualReader()))
	tracers := trace.NewTracerProvider(trace.WithSyncer(spans))
	h, err := otel.New(otel.Options{Meters: meters, Tracers: tracers})
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
	for _, s := range spans.GetSpans() {
		fmt.Println(s.Name)
	}
	// Output:
	// AllReduce
	// AllReduce
}
