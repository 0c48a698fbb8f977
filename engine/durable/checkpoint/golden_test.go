package checkpoint

import (
	"bytes"
	"slices"
	"testing"

	"orbweaver/engine/state/attempt"
	"orbweaver/internal/golden"
	"orbweaver/internal/outcome"
)

// The list of URLs in flight is written as it was, and read as it was.
func TestGolden_inFlight(t *testing.T) {
	finished := finishedBytes{5, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0, byte(outcome.OK)}
	p := &inFlight{
		attempts: attempt.NewInFlight(), held: func() []byte { return []byte("held") }, finished: &finished,
	}
	p.attempts.Add(&attempt.Attempt{URL: []byte("http://a.test/page"), Item: []byte("item")})
	const sum = "ca60423203bc94766999c8530ebb8d2e9434044e8785c03362e6e85fc9b655fa"
	var got []string
	var loaded finishedBytes
	err := ReadInFlight(golden.Compare(t, "aloft-1", sum, p.list()), func(site, item []byte) {
		got = append(got, string(site)+" "+string(item))
	}, &loaded)
	if err != nil || !slices.Equal(got, []string{"http://a.test item", " held"}) || !bytes.Equal(loaded, finished) {
		t.Errorf("%q, %v, %v", got, loaded, err)
	}
}
