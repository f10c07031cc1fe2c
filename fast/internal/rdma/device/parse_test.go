package device

import (
	"net/netip"
	"testing"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Options{
		"":               {},
		"any":            {},
		"any:2":          {Port: 2},
		"mlx5_0":         {Device: "mlx5_0"},
		"rxe0:2":         {Device: "rxe0", Port: 2},
		",gid=fe80::1":   {Address: netip.MustParseAddr("fe80::1")},
		":1,mtu=1024":    {Port: 1, MTU: 1024},
		"a,tc=104,sl=15": {Device: "a", Traffic: 104, Service: 15},
	} {
		if got, err := Parse(text); err != nil || got != want {
			t.Errorf("%q is %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"a:0", "a:x", "a,mtu=1500", "a,mtu=8192", "a,gid=here", "a,tc=256", "a,sl=16", "a,colour=red", "a,,", "a:1:2"} {
		if got, err := Parse(text); err == nil {
			t.Errorf("%q is %+v", text, got)
		}
	}
}
