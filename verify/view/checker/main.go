//go:build !js

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "this program is for browsers: GOOS=js GOARCH=wasm go build")
	os.Exit(2)
}
