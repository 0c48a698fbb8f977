package ownership

import (
	"slices"
	"testing"
)

func TestAgreed_isReadAsItWasWritten(t *testing.T) {
	agents := []Agent{{ID: "a", Capacity: 2, Store: 7}, {ID: "b", Capacity: 1, Store: 8}}
	for _, c := range []struct {
		away []string
		want string
	}{
		{nil, `[{"id":"a","capacity":2,"store":7},{"id":"b","capacity":1,"store":8}]`},
		{[]string{"b/0000000000000008", "c/0000000000000009"},
			`[{"id":"a","capacity":2,"store":7},{"id":"b","capacity":1,"store":8,"away":true}]`},
	} {
		raw := EncodeAgreed(agents, c.away)
		if string(raw) != c.want {
			t.Errorf("got %s, want %s", raw, c.want)
		}
		read, away, err := DecodeAgreed(raw)
		if err != nil || !slices.Equal(read, agents) || len(away) != min(len(c.away), 1) {
			t.Errorf("%s: %v, away %v, %v", raw, read, away, err)
		}
	}
	if _, _, err := DecodeAgreed([]byte("{")); err == nil {
		t.Error("half a view is read")
	}
}
