module github.com/collgen/collgen/launchers

go 1.26.0

require github.com/collgen/collgen v0.0.0

require (
	github.com/google/go-cmp v0.7.0
	golang.org/x/sys v0.49.0
)

replace github.com/collgen/collgen => ..
