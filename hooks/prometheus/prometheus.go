// Package prometheus counts calls and communicators for Prometheus:
//
//	h, err := prometheus.Register(registry)
//	err = fast.Main(ctx, 4, work, fast.WithHooks(h))
//
// docs/monitoring.md of the repository lists the metrics, and folder hooks/prometheus has a dashboard of Grafana.
package prometheus

import (
	"sync"
	"time"

	"github.com/collgen/collgen/fast/hooks"
	client "github.com/prometheus/client_golang/prometheus"
)

// Register returns hooks for option WithHooks of package fast, and registers the metrics that they count. Its error is
// that of the registry: it has these metrics already, for example. The metrics are of all ranks with these hooks; a
// registry of [client.WrapRegistererWith] adds labels to them.
//
// The labels of metrics are names of primitives, algorithms and transports, so there are few of them, however many
// communicators a program makes.
func Register(registry client.Registerer) (*hooks.Hooks, error) {
	m := newMetrics()
	all := []client.Collector{m.calls, m.seconds, m.bytes, m.running, m.slow, m.comms, m.failed, m.shrunk, m.lost}
	for i, c := range all {
		if err := registry.Register(c); err != nil {
			for _, done := range all[:i] {
				registry.Unregister(done)
			}
			return nil, err
		}
	}
	return m.hooks(), nil
}

// metrics are what the hooks count.
type metrics struct {
	calls   *client.CounterVec
	seconds *client.HistogramVec
	bytes   *client.CounterVec
	running *client.GaugeVec
	slow    *client.CounterVec
	comms   client.Gauge
	failed  client.Counter
	shrunk  client.Counter
	lost    client.Counter
	known   sync.Map // *ofKind by kind
}

func newMetrics() *metrics {
	named := func(name, help string) client.Opts { return client.Opts{Namespace: "collgen", Name: name, Help: help} }
	counter := func(name, help string) client.Counter {
		return client.NewCounter(client.CounterOpts(named(name, help)))
	}
	kind := []string{"primitive", "algorithm", "transport"}
	return &metrics{
		calls: client.NewCounterVec(client.CounterOpts(named("calls_total", "Calls that are over.")),
			append(kind, "outcome")),
		seconds: client.NewHistogramVec(client.HistogramOpts{Namespace: "collgen", Name: "call_duration_seconds",
			Help: "How long calls took that have succeeded.", Buckets: client.ExponentialBuckets(1e-6, 4, 13),
			NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 100}, kind),
		bytes: client.NewCounterVec(client.CounterOpts(named("call_bytes_total",
			"Bytes of the larger buffer of calls that have succeeded.")), kind),
		running: client.NewGaugeVec(client.GaugeOpts(named("calls_running", "Calls that have begun and are not over.")),
			kind),
		slow: client.NewCounterVec(client.CounterOpts(named("slow_warnings_total",
			"Warnings that a call makes no progress.")), kind),
		comms:  client.NewGauge(client.GaugeOpts(named("communicators", "Communicators that are not closed."))),
		failed: counter("communicators_failed_total", "Communicators that were given up."),
		shrunk: counter("communicators_shrunk_total", "Communicators that were made without ranks of others."),
		lost:   counter("ranks_lost_total", "Ranks that communicators were shrunk by."),
	}
}

// kind is the calls that are counted together.
type kind struct{ primitive, algorithm, transport string }

// ofKind are the metrics of one kind, which are looked up once.
type ofKind struct {
	succeeded, failed, bytes, slow client.Counter
	seconds                        client.Observer
	running                        client.Gauge
}

// of returns the metrics of c's kind.
func (m *metrics) of(c *hooks.Call) *ofKind {
	k := kind{c.Primitive, c.Algorithm, c.Comm.Transport}
	if x, ok := m.known.Load(k); ok {
		return x.(*ofKind)
	}
	labels := []string{k.primitive, k.algorithm, k.transport}
	x, _ := m.known.LoadOrStore(k, &ofKind{
		succeeded: m.calls.WithLabelValues(append(labels, "succeeded")...),
		failed:    m.calls.WithLabelValues(append(labels, "failed")...),
		bytes:     m.bytes.WithLabelValues(labels...),
		slow:      m.slow.WithLabelValues(labels...),
		seconds:   m.seconds.WithLabelValues(labels...),
		running:   m.running.WithLabelValues(labels...),
	})
	return x.(*ofKind)
}

// hooks returns hooks that count in m.
func (m *metrics) hooks() *hooks.Hooks {
	return &hooks.Hooks{
		CallBegun: func(c hooks.Call) { m.of(&c).running.Inc() },
		CallEnded: func(c hooks.Call, took time.Duration, err error) {
			x := m.of(&c)
			x.running.Dec()
			if err != nil {
				x.failed.Inc()
				return
			}
			x.succeeded.Inc()
			x.bytes.Add(float64(c.Bytes))
			x.seconds.Observe(took.Seconds())
		},
		CallSlow: func(c hooks.Call, _ hooks.Wait) { m.of(&c).slow.Inc() },
		CommMade: func(hooks.Comm) { m.comms.Inc() },
		CommShrunk: func(_, _ hooks.Comm, gone []int) {
			m.shrunk.Inc()
			m.lost.Add(float64(len(gone)))
		},
		CommFailed: func(hooks.Comm, error) { m.failed.Inc() },
		CommClosed: func(hooks.Comm) { m.comms.Dec() },
	}
}
