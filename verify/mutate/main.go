package main

import (
	"fmt"
	"os"
	"strconv"
	"time"
)

func main() {
	j, err := openJournal(os.Args[2])
	if err != nil {
		panic(err)
	}
	n, _ := strconv.Atoi(os.Args[3])
	secs, _ := strconv.Atoi(os.Args[4])
	until := time.Now().Add(time.Duration(secs) * time.Second)
	for _, s := range subjects {
		if s.pkg != os.Args[1] && os.Args[1] != "all" {
			continue
		}
		tried, err := s.sample("/tmp/mutants/w", n, 1, j, until, 2)
		killed := map[string]int{}
		for _, o := range tried {
			killed[o.Killer]++
			if o.Killer == "" {
				fmt.Println(o.Mutant)
			}
		}
		fmt.Println(s.pkg, len(tried), killed, err)
	}
}
