package secure

import (
	"strings"
	"testing"
)

// TestCheckUser: another user is refused, and so is one that stands for all who have no number in this user namespace.
func TestCheckUser(t *testing.T) {
	defer func(f func() int) { overflowUser = f }(overflowUser)
	for _, x := range []struct {
		user, own, nobody int
		want              string
	}{
		{7, 7, -1, ""}, {7, 7, 65534, ""}, {65534, 65534, -1, ""},
		{7, 8, -1, "belongs to user 7"}, {65534, 7, 65534, "belongs to user"}, {65534, 65534, 65534, "as another user"},
	} {
		overflowUser = func() int { return x.nobody }
		err := CheckUser(1, x.user, x.own)
		if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%+v: %v", x, err)
		}
	}
}

// TestNobody: where all users have a number, none stands for others.
func TestNobody(t *testing.T) {
	for _, x := range []struct {
		overflow, users string
		want            int
	}{
		{"65534\n", "         0          0 4294967295\n", -1},
		{"65534\n", "         0     100000      65536\n", 65534},
		{"65534\n", "0 1000 1\n1 100000 65536\n", 65534},
		{"65534\n", "", 65534},
		{"", "0 100000 65536", -1},
	} {
		if got := parseOverflowUser([]byte(x.overflow), []byte(x.users)); got != x.want {
			t.Errorf("%q, %q: %d, want %d", x.overflow, x.users, got, x.want)
		}
	}
}
