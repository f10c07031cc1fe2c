package secure

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"sync"
)

// CheckUser returns an error if the process pid, which the system says is user's, does not belong to this user, own.
func CheckUser(pid, user, own int) error {
	switch {
	case user != own:
		return fmt.Errorf("process %d belongs to user %d, want this user, %d", pid, user, own)
	case user == overflowUser():
		return fmt.Errorf("process %d belongs to user %d, the number of all users that this user namespace does not map: "+
			"run as another user", pid, user)
	}
	return nil
}

// overflowUser returns the number that this user namespace shows for every user that it does not map, or -1 if it maps
// all users.
var overflowUser = sync.OnceValue(func() int {
	overflow, overflowErr := os.ReadFile("/proc/sys/kernel/overflowuid")
	users, usersErr := os.ReadFile("/proc/self/uid_map")
	if overflowErr != nil || usersErr != nil {
		return -1
	}
	return parseOverflowUser(overflow, users)
})

// parseOverflowUser returns the same from the contents of the two files.
func parseOverflowUser(overflow, users []byte) int {
	n, err := strconv.Atoi(string(bytes.TrimSpace(overflow)))
	if all := bytes.Equal(bytes.Join(bytes.Fields(users), []byte(" ")), []byte("0 0 4294967295")); all || err != nil {
		return -1
	}
	return n
}
