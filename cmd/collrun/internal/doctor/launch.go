//go:build unix && !aix && !solaris

package doctor

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/collgen/collgen/fast"
)

// theJob returns this process's place in a job, by its environment, and what such a rank would use.
func theJob() []Finding {
	l, err := fast.Detect()
	if err != nil {
		return []Finding{{Name: "launcher", Text: "none", Warning: err.Error(), Fatal: true}, listening(&l),
			rulesOf(tunedWithout(os.Getenv("COLL_TUNE")))}
	}
	found := []Finding{
		{Name: "launcher", Value: l, Text: l.Launcher + ": " + l.Reason},
		{Name: "rank", Value: l.Rank, Text: rankWords(l.Rank, l.Size, "job") + ", " + rankWords(l.LocalRank, l.LocalSize,
			"host")},
		{Name: "job", Value: l.Job, Text: fmt.Sprintf("%q, attempt %d", l.Job, l.Epoch)},
		rulesOf(l.Tune),
	}
	if l.Size == 1 {
		return append(found, Finding{Name: "transport", Value: "none", Text: "none: a rank alone talks to nobody"})
	}
	found = append(found, storeOf(&l), secretOf(&l), listening(&l))
	if asksRDMA(&l) {
		found = append(found, rdmaOf(&l, checkRDMA))
	}
	return append(found, transportOf(&l))
}

// tunedWithout returns the file of rules that COLL_TUNE names to a program without a launcher, whose ranks are on this
// host.
func tunedWithout(tune string) string {
	if tune != "auto" {
		return tune
	}
	path, err := fast.TunedFile()
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		return ""
	}
	return path
}

// rulesOf returns which rules select algorithms: those of a file, unless it is "", and the built-in ones.
func rulesOf(file string) Finding {
	f := Finding{Name: "rules", Value: file, Text: "those that are built in"}
	if file == "" {
		return f
	}
	f.Text = "those of " + file + " first"
	r, err := os.Open(file)
	if err == nil {
		defer r.Close()
		_, err = fast.DecodeTuning(r)
	}
	if err != nil {
		f.Warning, f.Fatal = fmt.Sprintf("%s: %v", file, err), true
	}
	return f
}

// rankWords returns a rank and the number of ranks in words; -1 is unknown.
func rankWords(rank, size int, of string) string {
	return strings.ReplaceAll(fmt.Sprintf("%d of %d of the %s", rank, size, of), "-1", "unknown")
}

func storeOf(l *fast.Launch) Finding {
	f := Finding{Name: "store", Value: l.Store, Text: l.Store}
	if l.Store == "" {
		f.Text, f.Warning, f.Fatal = "none", "nothing says where the ranks find each other: "+l.Reason, true
	}
	return f
}

// secretOf returns where the job's secret comes from, never the secret itself.
func secretOf(l *fast.Launch) Finding {
	f := Finding{Name: "secret", Value: "file", Text: "from the file " + l.SecretFile}
	switch {
	case l.SecretFile != "":
		info, err := os.Stat(l.SecretFile)
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			err = fmt.Errorf("others may use %s (mode %v): want 0600", l.SecretFile, info.Mode().Perm())
		}
		if err != nil {
			f.Warning, f.Fatal = err.Error(), true
		}
	case l.SecretFD >= 0:
		f.Value, f.Text = "descriptor", fmt.Sprintf("from descriptor %d", l.SecretFD)
	case l.Store == "local" || l.Store == "pmi":
		f.Value, f.Text = "store", "from the store"
	default:
		f.Value, f.Text, f.Fatal = "none", "none", true
		f.Warning = "ranks on several hosts have to prove who they are: name a file with 32 random bytes by COLL_SECRET_FILE"
	}
	return f
}

// listening returns the interface on which other hosts would reach this process.
func listening(l *fast.Launch) Finding {
	i, err := l.ChooseInterface()
	if err != nil {
		return Finding{Name: "interface", Text: "none", Warning: err.Error(), Fatal: true}
	}
	return Finding{Name: "interface", Value: i, Text: fmt.Sprintf("%s %v: %s", i.Name, i.Addresses, i.Why)}
}

// transportOf returns the transports between the rank and the others.
func transportOf(l *fast.Launch) Finding {
	var parts []string
	clear := false
	if l.Transport == "rdma" {
		return Finding{Name: "transport", Value: l.Transport, Text: "rdma to all",
			Warning: "over rdma, data are never encrypted: who is on the path can read and change them"}
	}
	if runtime.GOOS == "linux" && l.Transport != "tcp" && l.LocalSize != 1 {
		parts = append(parts, "shm among ranks of one host")
	}
	if asksRDMA(l) && l.LocalSize != l.Size {
		parts = append(parts, "rdma to others that have it")
	}
	if l.Transport != "shm" && (len(parts) == 0 || l.LocalSize != l.Size) {
		parts = append(parts, "tcp to others")
		clear = !l.Encrypt
	}
	f := Finding{Name: "transport", Value: l.Transport, Text: strings.Join(parts, ", ")}
	if clear {
		f.Warning = "over tcp, data are not encrypted (COLL_ENCRYPT=1 would): who is on the path can read and change them"
	}
	return f
}
