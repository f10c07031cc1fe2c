package main

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// TestNCCL: the adapter for NCCL conforms over testdata/nccl, which has NCCL's functions on the host's memory, and does
// not if these reduce wrong.
func TestNCCL(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skipf("left out: %v", err)
	}
	build := func(flag string) (program string) {
		program = filepath.Join(t.TempDir(), "nccl")
		out, err := exec.Command("gcc", "-O2", "-fwrapv", "-pthread", flag, "-I", "testdata/nccl", "-o", program, "nccl.c",
			"testdata/nccl/stub.c").CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return program
	}
	halves := []string{"float16", "bfloat16"} // which are not reduced there
	fail(t, conforms(t, []int{1, 3}, halves, build("-DRIGHT"), "{rank}", "{n}", "{dir}"))
	spoiled := conforms(t, []int{2}, halves, build("-DSPOIL"), "{rank}", "{n}", "{dir}")
	fail(t, spoiled, "AllReduce", "Reduce", "ReduceScatter")
}
