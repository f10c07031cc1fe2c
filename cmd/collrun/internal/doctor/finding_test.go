//go:build unix && !aix && !solaris

package doctor

import "testing"

// writes are the texts that were written to it.
type writes []string

func (w *writes) Write(p []byte) (int, error) {
	*w = append(*w, string(p))
	return len(p), nil
}

// TestReportIsOneWrite keeps the reports of ranks that share a pipe apart.
func TestReportIsOneWrite(t *testing.T) {
	var got writes
	if err := Print(&got, []Finding{{Name: "cores", Text: "2", Warning: "few"},
		{Name: "host", Text: "here"}}); err != nil {
		t.Fatal(err)
	}
	if want := "cores  2\n       ! few\nhost   here\n"; len(got) != 1 || got[0] != want {
		t.Errorf("written: %q, want %q at once", got, want)
	}
}
