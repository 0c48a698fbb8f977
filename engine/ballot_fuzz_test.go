package engine

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"

	"orbweaver/internal/vfs"
)

// Whatever another agent sends in place of a ballot is refused or answered, and what is granted is noted.
func FuzzBallot(f *testing.F) {
	for _, seed := range []string{"", "{}", `{"line":"b/1","circle":7,"run":1,"count":1}`, `{"line":"b/0000000000000002","run":1,"count":1,"leaving":true}`,
		`{"line":"b/1","circle":7,"run":1,"count":1,"sets":[{"n":1,"lines":["a"]}]}`, `{"line":1}`, "[]"} {
		f.Add([]byte(seed))
	}
	a, b := Peer{ID: "a", Capacity: 1, Store: 1}, Peer{ID: "b", Capacity: 1, Store: 2}
	f.Fuzz(func(t *testing.T, question []byte) {
		p := &parish{t: t, names: []string{"a"}, running: map[string]*parishioner{}, stores: map[string]uint64{"a": 1}}
		seat := &parishioner{parish: p, self: a}
		agents := &peers{seam: seat, store: 1, line: a.line(), gate: newGate(func() {}), say: slog.New(slog.DiscardHandler)}
		q, err := newQuorum(agents, vfs.NewMem(1), ".", nil)
		if err != nil {
			t.Fatal(err)
		}
		c, err := newCircle([]Peer{a, b}, nil, 0, "a")
		if err != nil {
			t.Fatal(err)
		}
		q.open(c)
		raw, err := q.answer("b", question)
		var said ballot
		if err == nil {
			err = json.Unmarshal(raw, &said)
			if err != nil || said.Line != a.line() || said.Granted {
				t.Fatalf("%s: %s, %v", question, raw, err) // b is not among those who are there
			}
		}
		if err != nil && bytes.Contains(question, []byte(`"line":"b/`)) && json.Unmarshal(question, &said) == nil && said.Line[:2] == "b/" {
			t.Fatalf("%s is refused: %v", question, err)
		}
	})
}
