//go:build !linux

package fork

// Supported reports whether this system shows who is a child. Otherwise Child is never true.
func Supported() bool { return false }

// Child is false: without memory that the system wipes in a child it takes a system call in each call to know.
func Child() bool { return false }
