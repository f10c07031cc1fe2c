package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/collgen/collgen/fast"
)

// quickFlags are the values of flags for -tune -quick, unless they are on the command line.
var quickFlags = map[string]string{"b": "64", "e": "2M", "f": "8", "n": "11", "w": "1"}

// quicken sets what -quick says where the command line does not, and returns the operations to measure.
func (o *options) quicken(f *flag.FlagSet, words []string) []string {
	given := map[string]bool{}
	f.Visit(func(g *flag.Flag) { given[g.Name] = true })
	set := func(name, value string) {
		if !given[name] {
			_ = f.Set(name, value) // all of these are valid
		}
	}
	for name, value := range quickFlags {
		set(name, value)
	}
	if _, err := fast.Detect(); err != nil { // a launcher says both
		set("ranks", quickRanks(runtime.NumCPU()))
		if runtime.GOOS == "linux" {
			set("transport", "shm,tcp")
		}
	}
	if len(words) == 0 {
		words = []string{"all"}
	}
	return words
}

// quickRanks returns the numbers of ranks that are measured on so many cores.
func quickRanks(cores int) string {
	if cores <= 2 {
		return "2"
	}
	return fmt.Sprintf("2,%d", cores)
}

// tunedFile returns the file for the table of -quick, in a folder that exists.
func tunedFile() (string, error) {
	path, err := fast.TunedFile()
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	return path, err
}
