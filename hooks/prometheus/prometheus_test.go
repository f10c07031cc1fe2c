package prometheus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/collgen/collgen/fast"
	client "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// measured makes calls on two ranks, whose metrics are in the registry that it returns: three all-reduces of 32 bytes
// and a broadcast each, a call that fails, and a communicator that is shrunk to one rank.
func measured(t *testing.T) *client.Registry {
	t.Helper()
	registry := client.NewRegistry()
	h, err := Register(registry)
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
		if c.Rank() == 1 {
			c.Abort()
			return nil
		}
		d, err := c.Shrink(ctx)
		if err != nil {
			return err
		}
		return d.Close()
	}, fast.WithHooks(h), fast.WithLogger(nil))
	if err != nil {
		t.Fatal(err)
	}
	return registry
}

// want are metrics of measured.
const want = `
# HELP collgen_call_bytes_total Bytes of the larger buffer of calls that have succeeded.
# TYPE collgen_call_bytes_total counter
collgen_call_bytes_total{algorithm="binomial",primitive="Broadcast",transport="inproc"} 6
collgen_call_bytes_total{algorithm="ring",primitive="AllReduce",transport="inproc"} 192
# HELP collgen_communicators Communicators that are not closed.
# TYPE collgen_communicators gauge
collgen_communicators 0
# HELP collgen_communicators_failed_total Communicators that were given up.
# TYPE collgen_communicators_failed_total counter
collgen_communicators_failed_total 2
# HELP collgen_communicators_shrunk_total Communicators that were made without ranks of others.
# TYPE collgen_communicators_shrunk_total counter
collgen_communicators_shrunk_total 1
# HELP collgen_ranks_lost_total Ranks that communicators were shrunk by.
# TYPE collgen_ranks_lost_total counter
collgen_ranks_lost_total 1
`

// TestRegister counts calls and communicators.
func TestRegister(t *testing.T) {
	registry := measured(t)
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "collgen_call_bytes_total",
		"collgen_communicators", "collgen_communicators_failed_total", "collgen_communicators_shrunk_total",
		"collgen_ranks_lost_total"); err != nil {
		t.Error(err)
	}
	if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) > 0 {
		t.Error(problems, err)
	}
	got := map[string]float64{}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			got[f.GetName()] += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	if n := got["collgen_calls_total"]; n != 10 {
		t.Errorf("%v calls are over, want 10", n)
	}
	if got["collgen_call_duration_seconds"] != 8 || got["collgen_calls_running"] != 0 {
		t.Errorf("%v calls were timed, %v are running", got["collgen_call_duration_seconds"], got["collgen_calls_running"])
	}
}

// TestTwice: the metrics cannot be registered twice, unless a label distinguishes them.
func TestTwice(t *testing.T) {
	registry := client.NewRegistry()
	taken := newMetrics().slow
	if err := registry.Register(taken); err != nil {
		t.Fatal(err)
	}
	if h, err := Register(registry); !errors.As(err, new(client.AlreadyRegisteredError)) || h != nil {
		t.Errorf("%v, %v", h, err)
	}
	registry = client.NewRegistry()
	for _, rank := range []string{"0", "1"} {
		if _, err := Register(client.WrapRegistererWith(client.Labels{"rank": rank}, registry)); err != nil {
			t.Errorf("rank %s: %v", rank, err)
		}
	}
}

// TestAllocations: calls of a kind that is known allocate nothing.
func TestAllocations(t *testing.T) {
	h, err := Register(client.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	err = fast.Run(t.Context(), 1, func(ctx context.Context, c *fast.Comm) error {
		x := make([]float64, 3)
		if n := testing.AllocsPerRun(100, func() {
			if err := fast.AllReduce(ctx, c, x, fast.Sum); err != nil {
				t.Error(err)
			}
		}); n > 0 {
			return fmt.Errorf("%v allocations", n)
		}
		return nil
	}, fast.WithHooks(h))
	if err != nil {
		t.Error(err)
	}
}

// TestScrape has a Prometheus server scrape the metrics, and asks it for each expression of the dashboard.
func TestScrape(t *testing.T) {
	server, err := exec.LookPath("prometheus")
	if err != nil {
		t.Skip("no Prometheus server is installed: apt-get install prometheus")
	}
	page := httptest.NewServer(promhttp.HandlerFor(measured(t), promhttp.HandlerOpts{}))
	defer page.Close()
	dir := t.TempDir()
	config := fmt.Sprintf("scrape_configs:\n- job_name: train\n  scrape_interval: 100ms\n  static_configs:\n"+
		"  - targets: [%q]\n", strings.TrimPrefix(page.URL, "http://"))
	if err := os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	at := freeAddress(t)
	c := exec.CommandContext(ctx, server, "--config.file="+filepath.Join(dir, "prometheus.yml"),
		"--storage.tsdb.path="+dir, "--web.listen-address="+at)
	var log strings.Builder
	c.Stdout, c.Stderr = &log, &log
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cancel()
		_ = c.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	}()
	for result := ""; result != "192"; { // until it has scraped
		result, err = query(ctx, at, `sum(collgen_call_bytes_total{primitive="AllReduce"})`)
		if ctx.Err() != nil {
			t.Fatalf("Prometheus has not got the metrics: %q, %v", result, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	exprs := dashboardQueries(t)
	if len(exprs) < 6 {
		t.Fatalf("the dashboard has %d queries", len(exprs))
	}
	for _, expr := range exprs {
		expr = strings.NewReplacer("$__rate_interval", "1m", "$job", ".*").Replace(expr)
		if _, err := query(ctx, at, expr); err != nil {
			t.Errorf("%s: %v", expr, err)
		}
	}
}

// query asks the server at an address for the first value of an expression, "" if there is none.
func query(ctx context.Context, at, expr string) (string, error) {
	asks := "http://" + at + "/api/v1/query?query=" + url.QueryEscape(expr)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, asks, nil)
	if err != nil {
		return "", err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer func() { _ = answer.Body.Close() }()
	var got struct {
		Status, Error string
		Data          struct {
			Result []struct{ Value [2]any }
		}
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(&got); err != nil {
		return "", err
	}
	if got.Status != "success" {
		return "", errors.New(got.Error)
	}
	if len(got.Data.Result) == 0 {
		return "", nil
	}
	return fmt.Sprint(got.Data.Result[0].Value[1]), nil
}

// freeAddress returns an address of this host at which nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// dashboardQueries returns the expressions of the dashboard. Each metric of this package is in one of them.
func dashboardQueries(t *testing.T) (exprs []string) {
	t.Helper()
	data, err := os.ReadFile("grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(data, &dashboard); err != nil {
		t.Fatal(err)
	}
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			exprs = append(exprs, target.Expr)
		}
	}
	return exprs
}

// TestDashboard: each metric is in the dashboard and in the documentation, and each of the dashboard exists.
func TestDashboard(t *testing.T) {
	page, err := os.ReadFile("../../docs/monitoring.md")
	if err != nil {
		t.Fatal(err)
	}
	families, err := measured(t).Gather()
	if err != nil {
		t.Fatal(err)
	}
	shown, exist := strings.Join(dashboardQueries(t), "\n"), map[string]bool{}
	names := []string{"collgen_slow_warnings_total"} // which no call of the test has
	for _, f := range families {
		names = append(names, f.GetName())
	}
	for _, name := range names {
		exist[name] = true
		if !strings.Contains(shown, name) {
			t.Errorf("the dashboard does not show %s", name)
		}
		if !strings.Contains(string(page), name) {
			t.Errorf("docs/monitoring.md does not list %s", name)
		}
	}
	for _, name := range regexp.MustCompile(`collgen_\w+`).FindAllString(shown, -1) {
		if !exist[strings.TrimSuffix(name, "_bucket")] {
			t.Errorf("the dashboard shows %s, which does not exist", name)
		}
	}
}
