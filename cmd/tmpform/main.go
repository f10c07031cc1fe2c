package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"
	"runtime/pprof"

	"github.com/collgen/collgen/fast"
)

func main() {
	n, _ := strconv.Atoi(os.Args[1])
	start := time.Now()
	c, err := fast.Init(context.Background(), fast.FromEnv()...)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	formed := time.Since(start)
	pprof.StopCPUProfile()
	b := make([]float32, 1000)
	for range n {
		if err := fast.AllReduce(context.Background(), c, b, fast.Sum); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if c.Rank() == 0 {
		fmt.Printf("formed %.2f s, calls %.2f s\n", formed.Seconds(), (time.Since(start) - formed).Seconds())
	}
	_ = c.Close()
}
