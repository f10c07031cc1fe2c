//go:build unix && !aix && !solaris

package timeline

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"

	"github.com/collgen/collgen/cmd/collrun/internal/diagnosis"
	"github.com/collgen/collgen/fast/trace"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Parse(pageText))

// data is what the page draws. Words that many calls have in common are in lists.
type data struct {
	Ranks []string `json:"ranks"` // names of rows
	Comms []string `json:"comms"`
	Kinds []string `json:"kinds"` // primitives
	Words []string `json:"words"` // what calls are, and how they stand
	// Calls have the row, the communicator, start and end in ns, the primitive, the words of the call and of its state,
	// and 1 if it is over, 2 if it has failed, or else 0.
	Calls [][8]int64 `json:"calls"`
	Seqs  []uint64   `json:"seqs"` // the calls' numbers
}

var states = []string{trace.Running, trace.Done, trace.Failed}

// list numbers words.
type list struct {
	all   []string
	known map[string]int64
}

func (l *list) index(word string) int64 {
	at, ok := l.known[word]
	if !ok {
		if l.known == nil {
			l.known = map[string]int64{}
		}
		at = int64(len(l.all))
		l.known[word] = at
		l.all = append(l.all, word)
	}
	return at
}

// HTML writes a report as a page that needs no network.
func HTML(w io.Writer, r *diagnosis.Report) error {
	t := of(r)
	d := data{Comms: t.comms}
	rows := map[int]int{}
	for i, h := range r.Ranks {
		rows[h.Rank] = i
		d.Ranks = append(d.Ranks, fmt.Sprintf("rank %d", h.Rank))
	}
	var kinds, words list
	for i := range t.calls {
		c := &t.calls[i]
		d.Calls = append(d.Calls, [8]int64{int64(rows[c.Process]), int64(c.comm), int64(c.start), int64(c.end),
			kinds.index(c.Primitive), words.index(diagnosis.Operation(&c.Entry)), words.index(diagnosis.State(&c.Entry)),
			int64(slices.Index(states, c.State))})
		d.Seqs = append(d.Seqs, c.Seq)
	}
	d.Kinds, d.Words = kinds.all, words.all
	return page.Execute(w, map[string]any{"Job": r.Job, "Size": r.Size, "Verdict": r.Verdict.Sentence, "First": r.First,
		"Data": d})
}
