package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"syscall/js"

	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify/view"
)

func main() {
	js.Global().Set("collgenCheck", js.FuncOf(func(_ js.Value, args []js.Value) any { return check(args[0].String()) }))
	js.Global().Call("collgenReady")
	select {}
}

// check returns, as JSON, what the page shows of a plan, or why it shows nothing.
func check(text string) (answer string) {
	defer func() {
		if r := recover(); r != nil {
			answer = failed(fmt.Errorf("the verifier failed: %v", r))
		}
	}()
	d, err := view.OfPlan(strings.NewReader(text), spec.Primitives(), false)
	if err != nil {
		return failed(err)
	}
	data, err := json.Marshal(map[string]any{"data": d})
	if err != nil {
		return failed(err)
	}
	return string(data)
}

func failed(err error) string {
	text, _ := json.Marshal(map[string]string{"error": err.Error()})
	return string(text)
}
