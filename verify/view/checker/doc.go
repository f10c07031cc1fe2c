// Command checker is the verifier for browsers: GOOS=js GOARCH=wasm go build. It gives the page a function
// collgenCheck(plan), which returns as JSON the data of a page, or an error.
package main
