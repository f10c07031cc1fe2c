package format

import "fmt"

func f() { fmt.Printf("%d\n", "x") }
