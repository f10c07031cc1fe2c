// Package otel counts calls and communicators for OpenTelemetry, and has a span for each call:
//
//	h, err := otel.New(otel.Options{Meters: meters, Tracers: tracers})
//	err = fast.Main(ctx, 4, work, fast.WithHooks(h))
//
// docs/monitoring.md of the repository lists the metrics.
package otel

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/collgen/collgen/fast/hooks"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// scope is the name of the instrumentation.
const scope = "github.com/collgen/collgen/hooks/otel"

// Options say what the hooks of New tell.
type Options struct {
	Meters  metric.MeterProvider // nil: nobody gets metrics
	Tracers trace.TracerProvider // nil: nobody gets spans
}

// New returns hooks for option WithHooks of package fast. Its error is that of a provider that refuses an instrument.
//
// The attributes of metrics are names of primitives, algorithms and transports, so there are few of them. Spans also
// have the communicator, its rank, and what else is known of a call. They are roots, because a call does not know of
// which span it is part.
func New(o Options) (*hooks.Hooks, error) {
	h := &hooks.Hooks{}
	if o.Meters != nil {
		m, err := newMetrics(o.Meters.Meter(scope))
		if err != nil {
			return nil, err
		}
		m.hook(h)
	}
	if o.Tracers != nil {
		withSpans(h, o.Tracers.Tracer(scope))
	}
	return h, nil
}

// metrics are what the hooks count.
type metrics struct {
	calls, bytes, slow   metric.Int64Counter
	failed, shrunk, lost metric.Int64Counter
	running, comms       metric.Int64UpDownCounter
	seconds              metric.Float64Histogram
	known                sync.Map // ofKind by kind
}

// buckets are the bounds of those of durations, in seconds: from a microsecond, each four times the one before.
var buckets = []float64{1e-6, 4e-6, 16e-6, 64e-6, 256e-6, 1024e-6, 4096e-6, 16384e-6, 65536e-6, 0.262144, 1.048576,
	4.194304, 16.777216}

func newMetrics(m metric.Meter) (*metrics, error) {
	var errs []error
	counter := func(name, unit, help string) metric.Int64Counter {
		c, err := m.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(help))
		errs = append(errs, err)
		return c
	}
	upDown := func(name, unit, help string) metric.Int64UpDownCounter {
		c, err := m.Int64UpDownCounter(name, metric.WithUnit(unit), metric.WithDescription(help))
		errs = append(errs, err)
		return c
	}
	seconds, err := m.Float64Histogram("collgen.call.duration", metric.WithUnit("s"),
		metric.WithDescription("How long calls took that have succeeded."), metric.WithExplicitBucketBoundaries(buckets...))
	x := &metrics{
		calls:   counter("collgen.calls", "{call}", "Calls that are over."),
		bytes:   counter("collgen.call.bytes", "By", "Bytes of the larger buffer of calls that have succeeded."),
		slow:    counter("collgen.slow_warnings", "{warning}", "Warnings that a call makes no progress."),
		failed:  counter("collgen.communicators.failed", "{communicator}", "Communicators that were given up."),
		shrunk:  counter("collgen.communicators.shrunk", "{communicator}", "Communicators made without ranks of others."),
		lost:    counter("collgen.ranks.lost", "{rank}", "Ranks that communicators were shrunk by."),
		running: upDown("collgen.calls.running", "{call}", "Calls that have begun and are not over."),
		comms:   upDown("collgen.communicators", "{communicator}", "Communicators that are not closed."),
		seconds: seconds,
	}
	return x, errors.Join(append(errs, err)...)
}

// kind is the calls that are counted together.
type kind struct{ primitive, algorithm, transport string }

// ofKind are the attributes of one kind, which are made once.
type ofKind struct {
	succeeded, failed []metric.AddOption
	add               []metric.AddOption
	record            []metric.RecordOption
}

// of returns the attributes of c's kind.
func (m *metrics) of(c *hooks.Call) *ofKind {
	k := kind{c.Primitive, c.Algorithm, c.Comm.Transport}
	if x, ok := m.known.Load(k); ok {
		return x.(*ofKind)
	}
	about := attributes(c)
	with := func(outcome string) []metric.AddOption {
		set := attribute.NewSet(append(about, attribute.String("outcome", outcome))...)
		return []metric.AddOption{metric.WithAttributeSet(set)}
	}
	all := metric.WithAttributeSet(attribute.NewSet(about...))
	x, _ := m.known.LoadOrStore(k, &ofKind{succeeded: with("succeeded"), failed: with("failed"),
		add: []metric.AddOption{all}, record: []metric.RecordOption{all}})
	return x.(*ofKind)
}

// attributes returns those of c's kind.
func attributes(c *hooks.Call) []attribute.KeyValue {
	return []attribute.KeyValue{attribute.String("primitive", c.Primitive), attribute.String("algorithm", c.Algorithm),
		attribute.String("transport", c.Comm.Transport)}
}

// hook has h count in m.
func (m *metrics) hook(h *hooks.Hooks) {
	ctx := context.Background()
	h.CallBegun = func(c hooks.Call) { m.running.Add(ctx, 1, m.of(&c).add...) }
	h.CallEnded = func(c hooks.Call, took time.Duration, err error) {
		x := m.of(&c)
		m.running.Add(ctx, -1, x.add...)
		if err != nil {
			m.calls.Add(ctx, 1, x.failed...)
			return
		}
		m.calls.Add(ctx, 1, x.succeeded...)
		m.bytes.Add(ctx, int64(c.Bytes), x.add...)
		m.seconds.Record(ctx, took.Seconds(), x.record...)
	}
	h.CallSlow = func(c hooks.Call, _ hooks.Wait) { m.slow.Add(ctx, 1, m.of(&c).add...) }
	h.CommMade = func(hooks.Comm) { m.comms.Add(ctx, 1) }
	h.CommShrunk = func(_, _ hooks.Comm, gone []int) {
		m.shrunk.Add(ctx, 1)
		m.lost.Add(ctx, int64(len(gone)))
	}
	h.CommFailed = func(hooks.Comm, error) { m.failed.Add(ctx, 1) }
	h.CommClosed = func(hooks.Comm) { m.comms.Add(ctx, -1) }
}

// withSpans has h make a span for each call, when it is over.
func withSpans(h *hooks.Hooks, t trace.Tracer) {
	counted := h.CallEnded
	h.CallEnded = func(c hooks.Call, took time.Duration, err error) {
		if counted != nil {
			counted(c, took, err)
		}
		end := time.Now()
		_, span := t.Start(context.Background(), c.Primitive, trace.WithTimestamp(end.Add(-took)))
		defer span.End(trace.WithTimestamp(end))
		if !span.IsRecording() {
			return
		}
		span.SetAttributes(append(attributes(&c), attribute.String("comm", c.Comm.Name), attribute.Int("rank", c.Comm.Rank),
			attribute.Int("size", c.Comm.Size), attribute.Int64("seq", int64(c.Seq)), attribute.String("type", c.Type),
			attribute.Int("count", c.Count), attribute.Int("bytes", c.Bytes), attribute.Int("root", c.Root),
			attribute.Int("peer", c.Peer), attribute.String("op", c.Op), attribute.String("label", c.Label))...)
		if err != nil {
			span.RecordError(err)
			span.SetStatus(codes.Error, err.Error())
		}
	}
}
