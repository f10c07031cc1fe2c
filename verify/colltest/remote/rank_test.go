package remote

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// The test's program, started again, is a rank that talks over its standard input and output, or a launcher whose ranks
// are goroutines that connect. All that its ranks can do is to broadcast; what they do wrong is named by the first
// argument.

const rankVariable = "COLLGEN_TEST_REMOTE"

// nameVariable is the name of a variable with more words for the rank's name.
const nameVariable = "COLLGEN_TEST_REMOTE_NAME"

func TestMain(m *testing.M) {
	if os.Getenv(rankVariable) == "" {
		os.Exit(m.Run())
	}
	fault, rank, size := os.Args[1], os.Args[2], os.Args[3]
	n, _ := strconv.Atoi(size)
	if rank != "-" {
		r, _ := strconv.Atoi(rank)
		serve(struct {
			io.Reader
			io.Writer
		}{os.Stdin, os.Stdout}, &room{fault: fault, size: n}, r)
		return
	}
	r := &room{fault: fault, size: n, inputs: make([][]chan []byte, n)}
	for from := range n {
		for range n {
			r.inputs[from] = append(r.inputs[from], make(chan []byte, 64))
		}
	}
	launch(r)
}

// launch is a launcher: it starts ranks that connect.
func launch(r *room) {
	if r.fault == "exits" {
		fmt.Println("there is no network")
		os.Exit(3)
	}
	if r.fault == "does not connect" {
		time.Sleep(time.Hour)
	}
	var ranks sync.WaitGroup
	for rank := range r.size {
		ranks.Go(func() {
			conn, err := net.Dial("unix", os.Getenv(Variable))
			if err != nil {
				panic(err)
			}
			serve(conn, r, rank)
		})
	}
	ranks.Wait()
}

// room is where the ranks of one process meet.
type room struct {
	fault  string
	size   int
	inputs [][]chan []byte // from a root to each rank
}

// hellos are what is said instead of the right hello.
var hellos = map[string]string{
	"says nothing":      "",
	"other version":     "collgen-conform 99\n",
	"no version":        "Hello, world!\n",
	"endless line":      strings.Repeat("x", 1<<20),
	"endless hello":     version + "\n" + strings.Repeat("name x\n", 1000),
	"wrong size":        version + "\nrank 0 of 77\ntypes int8\nprimitive Broadcast apart\nready\n",
	"no rank":           version + "\ntypes int8\nprimitive Broadcast apart\nready\n",
	"no types":          version + "\nrank 0 of 2\nprimitive Broadcast apart\nready\n",
	"no primitive":      version + "\nrank 0 of 2\ntypes int8\nready\n",
	"unknown type":      version + "\nrank 0 of 2\ntypes int8 int9\n",
	"unknown primitive": version + "\nrank 0 of 2\ntypes int8\nprimitive Shuffle\n",
	"unknown line":      version + "\nrank 0 of 2\ncolour blue\n",
	"most below least":  version + "\nrank 0 of 2\ntypes int8\nleast 3\nmost 2\nprimitive Broadcast apart\nready\n",
	"two ranks alike":   version + "\nrank 0 of 2\ntypes int8\nprimitive Broadcast apart\nready\n",
}

// answers are what is answered instead of the right answer.
var answers = map[string]string{
	"short answer":  "done 00\n",
	"no digits":     "done " + strings.Repeat("x", 2*287) + "\n",
	"chatter":       "I am fine\n",
	"an error":      "error no such network\n",
	"endless":       strings.Repeat("0", 1<<20),
	"empty answer":  "\n",
	"wrong element": "", // see invoke
	"cannot":        "",
	"one cannot":    "",
	"hangs":         "",
	"dies":          "",
	"does not end":  "",
}

// serve is a rank.
func serve(with io.ReadWriter, r *room, rank int) {
	if text, wrong := hellos[r.fault]; wrong {
		_, _ = io.WriteString(with, text)
		time.Sleep(time.Hour)
	}
	fmt.Fprintf(with, "%s\nrank %d of %d\nname test%s\ntypes int8 int16\nprimitive Broadcast apart\nvalues "+
		"overflow\nready\n", version, rank, r.size, os.Getenv(nameVariable))
	for lines := bufio.NewReader(with); ; {
		line, err := lines.ReadString('\n')
		if err != nil || line == "end\n" && r.fault != "does not end" {
			return
		}
		if words := strings.Fields(line); words[0] == "call" {
			r.answer(with, words[1:], rank)
		}
	}
}

// answer makes a call, and answers it.
func (r *room) answer(with io.Writer, words []string, rank int) {
	text := answers[r.fault]
	switch {
	case r.fault == "hangs" && rank == r.size-1:
		time.Sleep(time.Hour)
	case r.fault == "dies" && rank == r.size-1:
		fmt.Fprintln(os.Stderr, "out of memory")
		os.Exit(7)
	case r.fault == "cannot" && words[10] == "23", r.fault == "one cannot" && rank == r.size-1:
		text = "cannot broadcast 23 elements\n"
	}
	if text != "" {
		_, _ = io.WriteString(with, text)
		return
	}
	memory, _ := hex.DecodeString(words[12])
	r.broadcast(memory, words, rank)
	fmt.Fprintf(with, "done %x\n", memory)
}

func (r *room) broadcast(memory []byte, words []string, rank int) {
	number := func(i int) int {
		n, err := strconv.Atoi(words[i])
		if err != nil {
			panic(err)
		}
		return n
	}
	bytes := number(10) * map[string]int{"int8": 1, "int16": 2}[words[1]]
	out := memory[number(9):][:bytes]
	if words[8] != "-" {
		copy(out, memory[number(7):])
		for to := range r.size {
			if to != rank {
				r.inputs[rank][to] <- append([]byte(nil), out...)
			}
		}
	} else {
		copy(out, <-r.inputs[number(3)][rank])
	}
	if r.fault == "wrong element" && bytes > 0 && rank == r.size-1 {
		out[bytes-1]++
	}
}
