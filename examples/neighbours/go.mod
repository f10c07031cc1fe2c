module example.org/neighbours

go 1.26.0

tool github.com/collgen/collgen/cmd/collgen

require github.com/collgen/collgen v0.0.0

require (
	github.com/dave/jennifer v1.7.1 // indirect
	golang.org/x/mod v0.42.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/tools v0.52.0 // indirect
	pgregory.net/rapid v1.3.0 // indirect
)

replace github.com/collgen/collgen => ../..
