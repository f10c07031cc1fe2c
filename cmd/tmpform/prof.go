package main

import (
	"os"
	"runtime/pprof"
)

func init() {
	if d := os.Getenv("FORMPROF"); d != "" && os.Getenv("COLL_RANK") == "5" {
		f, _ := os.Create(d)
		pprof.StartCPUProfile(f)
	}
}
