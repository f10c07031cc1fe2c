package otel

import (
	"context"
	"errors"
	"testing"

	"github.com/collgen/collgen/fast"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// measure makes calls on two ranks with hooks: three all-reduces of 32 bytes and a broadcast each, and one that fails
// after it has begun.
func measure(t *testing.T, o Options) {
	t.Helper()
	h, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	err = fast.Run(t.Context(), 2, func(ctx context.Context, c *fast.Comm) error {
		for range 3 {
			if err := fast.AllReduce(ctx, c, make([]float32, 8), fast.Sum, fast.WithAlgorithm("ring")); err != nil {
				return err
			}
		}
		if err := fast.Broadcast(ctx, c, make([]int8, 3), 0, fast.WithAlgorithm("binomial")); err != nil {
			return err
		}
		if err := fast.AllReduce(ctx, c, make([]float32, 8+c.Rank()), fast.Sum, fast.WithAlgorithm("ring")); err == nil {
			return errors.New("calls that differ succeed")
		}
		return nil
	}, fast.WithHooks(h), fast.WithLogger(nil))
	if err != nil {
		t.Fatal(err)
	}
}

// TestMetrics counts calls and communicators.
func TestMetrics(t *testing.T) {
	reader := metric.NewManualReader()
	measure(t, Options{Meters: metric.NewMeterProvider(metric.WithReader(reader))})
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	got := map[string]int64{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					outcome, _ := p.Attributes.Value("outcome")
					got[m.Name+outcome.AsString()] += p.Value
				}
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					got[m.Name] += int64(p.Count)
					if primitive, ok := p.Attributes.Value("primitive"); !ok || primitive.AsString() == "" {
						t.Errorf("%s has the attributes %v", m.Name, p.Attributes)
					}
				}
			}
		}
	}
	for name, want := range map[string]int64{"collgen.callssucceeded": 8, "collgen.callsfailed": 2,
		"collgen.call.bytes": 2 * (3*32 + 3), "collgen.call.duration": 8, "collgen.calls.running": 0,
		"collgen.communicators.failed": 2, "collgen.communicators": 0} {
		if got[name] != want {
			t.Errorf("%s is %d, want %d", name, got[name], want)
		}
	}
}

// TestSpans: each call is a span, with its error.
func TestSpans(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	provider := trace.NewTracerProvider(trace.WithSyncer(spans))
	measure(t, Options{Tracers: provider})
	failed, bytes := 0, int64(0)
	all := spans.GetSpans()
	for _, s := range all {
		if s.EndTime.Before(s.StartTime) {
			t.Errorf("%s ends before it starts", s.Name)
		}
		if s.Status.Code == codes.Error {
			failed++
			continue
		}
		set := attribute.NewSet(s.Attributes...)
		n, _ := set.Value("bytes")
		bytes += n.AsInt64()
		if comm, _ := set.Value("comm"); comm.AsString() != "world" {
			t.Errorf("%s is on communicator %q", s.Name, comm.AsString())
		}
	}
	if len(all) != 10 || failed != 2 || bytes != 2*(3*32+3) {
		t.Errorf("%d spans, %d of which have failed, %d bytes", len(all), failed, bytes)
	}
}

// TestNothing: hooks without providers count nothing, and do no harm.
func TestNothing(t *testing.T) { measure(t, Options{}) }
