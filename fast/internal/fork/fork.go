// Package fork tells a process that was forked off from a program, and has executed no other one, from the program
// itself: it shares the sockets and the memory of that, and has none of its threads but one.
package fork
