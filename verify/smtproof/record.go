package smtproof

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"fmt"
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
		if len(fields) != 5 {
			return nil, fmt.Errorf("not a record: %q", line)
		}
		n, err := strconv.Atoi(fields[3])
		if err != nil {
			return nil, fmt.Errorf("not a record: %q: %w", line, err)
		}
		list = append(list, Record{fields[0], fields[1], fields[2], n, strings.Split(fields[4], ",")})
	}
	return list, lines.Err()
}

// WriteRecords returns records as a text, for ReadRecords.
func WriteRecords(list []Record) []byte {
	list = slices.SortedFunc(slices.Values(list), func(a, b Record) int { return cmp.Compare(a.Algorithm, b.Algorithm) })
	var b bytes.Buffer
	b.WriteString("# What collgen prove -write proved: algorithm, digest, sizes, obligations, solvers.\n")
	for _, r := range list {
		fmt.Fprintf(&b, "%-30s %s %-7s %3d %s\n", r.Algorithm, r.Digest, r.Sizes, r.Obligations, strings.Join(r.Solvers, ","))
	}
	return b.Bytes()
}

// Record returns the record of the proof, and whether it is complete.
func (p *Proof) Record() (Record, bool) {
	return Record{p.Algorithm.FullName(), p.Digest(), p.Sizes(), len(p.Obligations), p.Solvers}, len(p.Open()) == 0 &&
		len(p.Solvers) > 0
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
	}
	return parts
}
