package site

import (
	"net/netip"
	"reflect"
	"testing"
	"time"

	"orbweaver/bench/golden"
	"orbweaver/engine/queued"
	"orbweaver/engine/robots"
	"orbweaver/internal/outcome"
)

// The encoded states must equal the golden file, and must decode to the original values.
func TestGolden_sites(t *testing.T) {
	now := time.Unix(1e9, 5)
	rules := robots.Parse([]byte("User-agent: *\nDisallow: /a\n"), "orbweaver")
	var many State
	many.SetAddrs(
		[]netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("2001:db8::1")},
		netip.MustParseAddr("10.0.0.1"),
		now,
	)
	many.SetRules(rules, now.Add(time.Hour))
	sites := []State{
		{}, many, New(rules, now, now),
		{
			Stored:        7,
			Failures:      -3,
			Slowdown:      200,
			RobotsTries:   -1,
			HasAnswered:   true,
			HasServedRoot: true,
			DenyAll:       true,
			Blocked:       true,
			DeadOutcome:   outcome.NameNotFound,
		},
		{
			rare: &rareFacts{
				failures: FailureStreak{
					FirstAt:      1e9,
					lastAt:       1e9 + 9,
					RetryAt:      2e9,
					Count:        300,
					NameFailures: 7,
					LastOutcome:  outcome.Refused,
				},
			},
		},
	}
	var b []byte
	for i := range sites {
		b = queued.AppendBytes(b, Append(nil, &sites[i]))
	}
	rest := golden.Compare(t, "sites-4", "ef11b29f714b06b6792cab79a9ad3d19f668773b5348edfb5afe427d9b4e5c67", b)
	for _, want := range sites {
		var one []byte
		one, rest, _ = queued.CutBytes(rest)
		if got, err := NewDecoder()(one); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v came back as %+v, %v", want, got, err)
		}
	}
}
