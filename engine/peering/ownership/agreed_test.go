package ownership

import (
	"slices"
	"testing"
)

func TestAgreed_isReadAsItWasWritten(t *testing.T) {
	agents := []Agent{{ID: "a", Capacity: 2, Store: 7}, {ID: "b", Capacity: 1, Store: 8}}
	leaving := []Agent{{ID: "c", Capacity: 1, Store: 9}}
	for _, c := range []struct {
		view Agreed
		want string
	}{
		{Agreed{Members: agents}, `[{"id":"a","capacity":2,"store":7},{"id":"b","capacity":1,"store":8}]`},
		{Agreed{Members: agents, AwayAgents: []string{"b/0000000000000008", "c/0000000000000009"}},
			`[{"id":"a","capacity":2,"store":7},{"id":"b","capacity":1,"store":8,"away":true}]`},
		{Agreed{Members: agents, LeavingAgents: leaving}, `[{"id":"a","capacity":2,"store":7},` +
			`{"id":"b","capacity":1,"store":8},{"id":"c","capacity":1,"store":9,"leaving":true}]`},
	} {
		raw := c.view.Encode()
		if string(raw) != c.want {
			t.Errorf("got %s, want %s", raw, c.want)
		}
		read, err := DecodeAgreed(raw)
		if err != nil || !slices.Equal(read.Members, agents) || len(read.AwayAgents) != min(len(c.view.AwayAgents), 1) ||
			!slices.Equal(read.LeavingAgents, c.view.LeavingAgents) {
			t.Errorf("%s: %+v, %v", raw, read, err)
		}
	}
	if _, err := DecodeAgreed([]byte("{")); err == nil {
		t.Error("half a view is read")
	}
}
