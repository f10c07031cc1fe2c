package smtproof

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/collgen/collgen/gen/emit/smt"
)

// Record is what was proved of an algorithm for every size.
type Record struct {
	Algorithm   string   `json:"algorithm"`
	Digest      string   `json:"digest"`      // of the algorithm's text, the scripts that were decided, and the lemmas
	Sizes       string   `json:"sizes"`       // all, or 1..2^31
	Obligations int      `json:"obligations"` // how many were proved
	Solvers     []string `json:"solvers"`     // by each of these
	// Scripts is a hash of what the solvers got to decide, and Versions has the solvers' versions. Both are empty in
	// records that were written before there were such fields.
	Scripts  string   `json:"scripts,omitempty"`
	Versions []string `json:"versions,omitempty"`
}

//go:embed proved.txt
var proved []byte

// Records returns the records of the catalogue.
func Records() ([]Record, error) { return ReadRecords(proved) }

// ReadRecords parses a text that WriteRecords returned.
func ReadRecords(text []byte) (list []Record, err error) {
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Fields(line)
		if len(fields) != 5 && len(fields) != 7 {
			return nil, fmt.Errorf("not a record: %q", line)
		}
		n, err := strconv.Atoi(fields[3])
		if err != nil {
			return nil, fmt.Errorf("not a record: %q: %w", line, err)
		}
		r := Record{Algorithm: fields[0], Digest: fields[1], Sizes: fields[2], Obligations: n,
			Solvers: strings.Split(fields[4], ",")}
		if len(fields) == 7 {
			r.Scripts, r.Versions = fields[5], strings.Split(fields[6], ",")
		}
		list = append(list, r)
	}
	return list, lines.Err()
}

// WriteRecords returns records as a text, for ReadRecords.
func WriteRecords(list []Record) []byte {
	list = slices.SortedFunc(slices.Values(list), func(a, b Record) int { return cmp.Compare(a.Algorithm, b.Algorithm) })
	var b bytes.Buffer
	b.WriteString("# What collgen prove -write proved: algorithm, digest, sizes, obligations, solvers, " +
		"scripts, versions of the solvers.\n")
	for _, r := range list {
		fmt.Fprintf(&b, "%-30s %s %-7s %3d %s", r.Algorithm, r.Digest, r.Sizes, r.Obligations, strings.Join(r.Solvers, ","))
		if r.Scripts != "" {
			fmt.Fprintf(&b, " %s %s", r.Scripts, strings.Join(r.Versions, ","))
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// Record returns the record of the proof, and whether it is complete.
func (p *Proof) Record() (Record, bool) {
	return p.recordBy(p.Solvers), len(p.Open()) == 0 && len(p.Solvers) > 0
}

// recordBy returns the record that the problem has when these solvers have proved all of it.
func (p *Problem) recordBy(solvers []Solver) Record {
	r := Record{Algorithm: p.Algorithm.FullName(), Digest: p.Digest(), Sizes: p.Sizes(), Obligations: len(p.Obligations)}
	for _, s := range solvers {
		r.Solvers, r.Versions = append(r.Solvers, s.Name), append(r.Versions, s.Version)
	}
	r.Scripts = p.ScriptsFor(r.Solvers)
	return r
}

// ScriptsFor returns a hash of what the solvers of these names get to decide the problem: each one's options and its
// input. The time limit is not in it, because it only says when a solver gives up.
func (p *Problem) ScriptsFor(solvers []string) string {
	h := sha256.New()
	for _, name := range solvers {
		if s, ok := solverCalled(name); ok {
			fmt.Fprintf(h, "%s %q\n%s", name, s.args(0), s.input(p.Scripts, 0))
		}
	}
	return fmt.Sprintf("0x%x", h.Sum(nil)[:8])
}

// DecidedBy returns the problem's record in a list, and whether these solvers need not be asked again: what they would
// get is what they got, their versions are the same, and so is all else in the record.
func (p *Problem) DecidedBy(solvers []Solver, list []Record) (Record, bool) {
	now := p.recordBy(solvers)
	r, ok := find(list, now.Algorithm)
	return r, ok && reflect.DeepEqual(r, now) && !slices.Contains(r.Versions, unknown)
}

// Digest returns a hash of the problem: of the algorithm, including parts that no script mentions, the scripts, and the
// lemmas.
func (p *Problem) Digest() string {
	h := sha256.New()
	h.Write([]byte(p.Algorithm.Text()))
	for _, s := range p.Scripts {
		h.Write([]byte(s))
	}
	for _, l := range smt.Lemmas() {
		h.Write([]byte(l.Script))
	}
	return fmt.Sprintf("0x%x", h.Sum(nil)[:8])
}

// Recorded returns the problem's record in a list, and whether there is one with the problem's digest.
func (p *Problem) Recorded(list []Record) (Record, bool) {
	r, ok := find(list, p.Algorithm.FullName())
	if !ok || r.Digest != p.Digest() {
		return Record{}, false
	}
	return r, true
}

// find returns the record of an algorithm in a list, and whether there is one.
func find(list []Record, algorithm string) (Record, bool) {
	i := slices.IndexFunc(list, func(r Record) bool { return r.Algorithm == algorithm })
	if i < 0 {
		return Record{}, false
	}
	return list[i], true
}

// Changes returns a line for each record in which two lists differ: what was proved before, and what is proved now.
func Changes(before, now []Record) (lines []string) {
	for _, is := range now {
		was, ok := find(before, is.Algorithm)
		if !ok {
			lines = append(lines, fmt.Sprintf("%s: %d obligations, and none before", is.Algorithm, is.Obligations))
		} else if parts := is.since(was); len(parts) > 0 {
			lines = append(lines, is.Algorithm+": "+strings.Join(parts, "; "))
		}
	}
	for _, was := range before {
		if _, ok := find(now, was.Algorithm); !ok {
			lines = append(lines, fmt.Sprintf("%s: no record any more; it was of %d obligations", was.Algorithm,
				was.Obligations))
		}
	}
	return lines
}

// since returns the differences from an earlier record of the same algorithm, in words.
func (r Record) since(was Record) (parts []string) {
	switch n := r.Obligations - was.Obligations; {
	case n == 0 && r.Digest == was.Digest:
	case n > 0:
		parts = append(parts, fmt.Sprintf("%d obligations, %d more than before", r.Obligations, n))
	case n < 0:
		parts = append(parts, fmt.Sprintf("%d obligations, %d fewer than before", r.Obligations, -n))
	default:
		parts = append(parts, fmt.Sprintf("%d obligations, as many as before, and not the same", r.Obligations))
	}
	if r.Sizes != was.Sizes {
		parts = append(parts, fmt.Sprintf("for sizes %s instead of %s", r.Sizes, was.Sizes))
	}
	if !slices.Equal(r.Solvers, was.Solvers) {
		parts = append(parts, fmt.Sprintf("by %s instead of %s", strings.Join(r.Solvers, ","),
			strings.Join(was.Solvers, ",")))
	} else if r.Digest == was.Digest && (r.Scripts != was.Scripts || !slices.Equal(r.Versions, was.Versions)) {
		parts = append(parts, "by options or versions of the solvers that were not recorded")
	}
	return parts
}
