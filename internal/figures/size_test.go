package figures

import "testing"

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "8": 8, "1000": 1000, "4K": 4096, "4k": 4096, "3M": 3 << 20, "2G": 2 << 30, "1T": 1 << 40,
	} {
		var got Size
		if err := got.Set(text); err != nil || int64(got) != want {
			t.Errorf("%s: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "K", "-1", "1.5K", "1KB", "9223372036854775807K", "99999999999999999999"} {
		got := Size(5)
		if err := got.Set(text); err == nil || got != 5 {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func FuzzSize(f *testing.F) {
	f.Add("64K")
	f.Fuzz(func(t *testing.T, text string) {
		var s, again Size
		if s.Set(text) != nil {
			return
		}
		if err := again.Set(s.String()); s < 0 || err != nil || again != s {
			t.Errorf("%q is %d, and %v is %d (%v)", text, int(s), &s, int(again), err)
		}
	})
}
