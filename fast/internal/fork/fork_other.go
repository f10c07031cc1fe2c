//go:build !linux

package fork

// Supported reports whether Child works on this system. Otherwise Child returns false.
func Supported() bool { return false }

// Child returns false. Without memory that the system wipes in a child, it would need a system call each time.
func Child() bool { return false }
