package secure

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"sync"
)

// CheckUser refuses the process pid, which the system says is user's, unless that is this user, own, and no other one.
func CheckUser(pid, user, own int) error {
	switch {
	case user != own:
		return fmt.Errorf("process %d belongs to user %d, and not to this user, %d", pid, user, own)
	case user == nobody():
		return fmt.Errorf("process %d belongs to user %d, which in this user namespace all have who have no number in it: "+
			"run as another user", pid, user)
	}
	return nil
}

// nobody is the number that every user has here who is not of this user namespace; -1: there are no others.
var nobody = sync.OnceValue(func() int {
	overflow, err := os.ReadFile("/proc/sys/kernel/overflowuid")
	users, failed := os.ReadFile("/proc/self/uid_map")
	if err != nil || failed != nil {
		return -1
	}
	return nobodyOf(overflow, users)
})

// nobodyOf is nobody by what the system says.
func nobodyOf(overflow, users []byte) int {
	n, err := strconv.Atoi(string(bytes.TrimSpace(overflow)))
	if all := bytes.Equal(bytes.Join(bytes.Fields(users), []byte(" ")), []byte("0 0 4294967295")); all || err != nil {
		return -1
	}
	return n
}
