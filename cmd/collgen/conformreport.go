package main

import (
	"bytes"
	"errors"
	"io"
)

// reporter is a form in which collgen conform tells its results, as they come.
type reporter interface {
	begin(r *conformance) error         // the test in an environment begins
	part(r *conformance, p *part) error // a part of it is done
	end(r *conformance) error           // all parts are, or the test has ended early, as r says
	close(all *conformances) error      // the tests in all environments are done, or have ended early, as all says
}

// reports are the reporters of a command line. What cannot be written does not end the tests: err collects it.
type reports struct {
	all  *conformances
	them []reporter
	err  error
}

// newReports returns the reporters that the flags ask for. Files are written at once, so that a name that cannot be
// written to is an error before the tests.
func (f *conforming) newReports(c *call, all *conformances) (reports, error) {
	x := reports{all: all}
	switch {
	case c.json:
		x.them = append(x.them, &jsonReport{c.stdout})
	case f.tap:
		x.them = append(x.them, &tapReport{out: c.stdout})
	default:
		x.them = append(x.them, &tableReport{out: c.stdout, baseline: f.baseline})
	}
	heading := heading{command: c.command, arguments: c.line}
	for _, to := range []fileReport{{f.junit, heading.writeJUnit, all}, {f.html, heading.writeHTML, all}} {
		if to.path == "" {
			continue
		}
		if err := to.write(); err != nil {
			return x, err
		}
		x.them = append(x.them, &to)
	}
	return x, nil
}

func (x *reports) each(tell func(reporter) error) {
	for _, r := range x.them {
		x.err = errors.Join(x.err, tell(r))
	}
}

func (x *reports) begin(r *conformance) {
	x.each(func(to reporter) error { return to.begin(r) })
}

func (x *reports) part(r *conformance, p *part) {
	x.each(func(to reporter) error { return to.part(r, p) })
}

func (x *reports) end(r *conformance) {
	r.NotTested = append([]string{}, r.notTested()...)
	x.each(func(to reporter) error { return to.end(r) })
}

func (x *reports) close() {
	x.each(func(to reporter) error { return to.close(x.all) })
}

// fileReport is a file that is written anew each time that something is known.
type fileReport struct {
	path   string
	render func(w io.Writer, all *conformances) error
	all    *conformances
}

func (f *fileReport) write() error {
	var b bytes.Buffer
	if err := f.render(&b, f.all); err != nil {
		return err
	}
	return replaceFile(f.path, b.Bytes())
}

func (f *fileReport) begin(*conformance) error       { return f.write() }
func (f *fileReport) part(*conformance, *part) error { return f.write() }
func (f *fileReport) end(*conformance) error         { return f.write() }
func (f *fileReport) close(*conformances) error      { return f.write() }

// jsonReport writes JSON when everything is known: one object without -env, and else one that has all in runs.
type jsonReport struct{ out io.Writer }

func (j *jsonReport) begin(*conformance) error       { return nil }
func (j *jsonReport) part(*conformance, *part) error { return nil }
func (j *jsonReport) end(*conformance) error         { return nil }

func (j *jsonReport) close(all *conformances) error {
	if errors.As(all.stopped, new(usageError)) {
		return nil
	}
	if len(all.Runs) == 1 && len(all.Runs[0].Environment) == 0 {
		return writeJSON(j.out, all.Runs[0])
	}
	return writeJSON(j.out, all)
}
