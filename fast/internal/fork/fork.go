// Package fork detects that this process is a forked child that has not called exec. Such a child shares the sockets
// and memory of its parent, but has only one of its threads.
package fork
