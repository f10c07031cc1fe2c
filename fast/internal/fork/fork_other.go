//go:build !linux

package fork

import "os"

var program = os.Getpid()

// Child tells whether this process was forked off from the one that the program began in.
func Child() bool { return os.Getpid() != program }
